#include "synth/networks.h"
#include "synth/search/levels.h"

namespace dlcp::synth {
namespace {

std::string error_of(const std::string& text) {
  const auto topology = parse_links(text, "f.yaml");
  REQUIRE(!topology.ok());
  return topology.error().message();
}

}  // namespace

TEST_CASE("links are read with ranges, counts and both directions") {
  const Topology t = parsed(
      "{ranks: 'h[0-3]', switches: [s], latency: 2us, links: [{from: 'h[0-3]', to: s, rate: 25G, "
      "count: 2}]}");
  CHECK(t.ranks() == 4);
  CHECK(t.links.size() == 8);
  for (const Link& link : t.links) {
    CHECK(link.rate == Approx(6.25e9));
    CHECK(link.latency == Approx(2e-6));
  }
}

TEST_CASE("a range may end at the largest number") {
  const std::string host = "h18446744073709551615";
  const Topology t =
      parsed("{ranks: ['h[18446744073709551614-18446744073709551615]'], links: [{from: " + host +
             ", to: h18446744073709551614, rate: 1G}]}");
  CHECK(t.ranks() == 2);
  CHECK(t.rank_name(1) == host);
}

TEST_CASE("zeros before the first number of a range belong to the names") {
  const Topology t =
      parsed("{ranks: 'h[08-11]', switches: [s], links: [{from: 'h[08-11]', to: s, rate: 1G}]}");
  CHECK(t.rank_name(0) == "h08");
  CHECK(t.rank_name(3) == "h11");
}

TEST_CASE("bytes and bits per second are distinguished") {
  const Topology t = parsed(
      "{ranks: [a, b], links: [{from: a, to: b, rate: 12.5GB/s, one_way: yes}, {from: b, to: a, "
      "rate: 100Gbit, one_way: yes}]}");
  CHECK(t.links[0].rate == Approx(12.5e9));
  CHECK(t.links[1].rate == Approx(12.5e9));
}

TEST_CASE("rates of parallel links add up, links of rate 0 are down, and both are noted") {
  const Topology t = parsed(
      "{ranks: [a, b], links: [{from: a, to: b, rate: 1G}, {from: a, to: b, rate: 2G}, {from: b, "
      "to: a, rate: 0}]}");
  CHECK(t.links.size() == 2);
  CHECK(t.links[0].rate == Approx(3e9 / 8));
  CHECK(t.notes.size() == 2);
}

TEST_CASE("a disconnected network is refused with the names of two unconnected ranks") {
  CHECK(error_of("{ranks: [a, b, c], links: [{from: a, to: b, rate: 1G}]}") ==
        "f.yaml: a cannot reach c: there is no path of links in this direction; add the missing "
        "link, or remove the rank");
  CHECK(error_of("{ranks: [a, b], links: [{from: a, to: b, rate: 0}]}").find("a cannot reach b") !=
        std::string::npos);
  CHECK(error_of("{ranks: [a, b], links: [{from: a, to: b, rate: 1G, one_way: yes}]}")
            .find("b cannot reach a") != std::string::npos);
}

TEST_CASE("an error in a file is reported with its line, the value and the correct form") {
  CHECK(error_of("ranks: [a, b]\nlinks:\n  - {from: a, to: b, rate: fast}\n") ==
        "f.yaml: line 3: rate is 'fast'; write 100G (bits per second) or 12.5GB/s");
  CHECK(error_of("ranks: [a]\nlinks:\n  - {from: a, to: x, rate: 1G}\n") ==
        "f.yaml: line 3: there is no rank or switch x");
  CHECK(error_of("ranks: [a, a]\nlinks: []\n") == "f.yaml: line 1: a is defined twice");
  CHECK(error_of("ranks: [a]\nlink: []\n").find("unknown key 'link'; the keys are name, message") !=
        std::string::npos);
  CHECK(error_of("ranks: []\nlinks: []\n").find("no ranks") != std::string::npos);
  CHECK(error_of("ranks: 'h[0-1000000]'\nlinks: []\n").find("not a range") != std::string::npos);
  CHECK(error_of("ranks: [a]\nlinks:\n  - {from: a, to: a, rate: 1G}\n")
            .find("connects a node to itself") != std::string::npos);
  CHECK(error_of("[").find("f.yaml: line") == 0);
  CHECK(error_of("").find("this is not a topology") != std::string::npos);
  CHECK(error_of("{ranks: [a, b], links: [{from: a, to: b, rate: -1G}]}").find("rate is '-1G'") !=
        std::string::npos);
  CHECK(error_of("{ranks: [a, b], links: [{from: a, to: b, rate: 1e30T}]}").find("give 0 to") !=
        std::string::npos);
}

TEST_CASE("TACCL's boxes are connected as in the sketch") {
  const Topology two = taccl("ndv2.json", "ndv2-x2.json");
  CHECK(two.ranks() == 16);
  CHECK(levels_of(two).front().groups == 2);
  CHECK(taccl("dgx2.json", "dgx2-x2.json").ranks() == 32);
  const auto missing = parse_taccl({R"({"gpus_per_node": 8, "alpha": 1})", "t"}, std::nullopt);
  CHECK(missing.error().message() ==
        "t: line 1: betas are missing; give 'betas' (a matrix) or 'node_betas_list'");
  const auto far = parse_taccl(
      {sample("ndv2.json"), "t"},
      InputFile{R"({"nnodes": 2, "internode_sketch": {"internode_conn": {"9": [0]}}})", "s"});
  CHECK(far.error().message() == "s: line 1: internode_conn is '9'; give 0 to 7");
}

TEST_CASE("GPUs that share a NIC reach every receiver, at the NIC's rate") {
  const Topology t =
      parse_taccl(
          {sample("ndv2.json"), "t"},
          InputFile{R"({"nnodes": 2, "internode_sketch": {"internode_conn": "fully-connected"}})",
                    "s"})
          .value();
  CHECK(t.ranks() == 16);
  CHECK(t.notes.size() == 1);
}

TEST_CASE("leaves and pods are derived from the links") {
  const auto levels = levels_of(leaf_spine(4, 4, "100G", "100G"));
  REQUIRE(levels.size() == 1);
  CHECK(levels[0].groups == 4);
  CHECK(levels_of(star(5)).empty());
}

TEST_CASE("equal hosts are in one class, a slow one in another") {
  CHECK(classes_of(star(4)) == std::vector<int>{0, 0, 0, 0});
  const Topology t = parsed(
      "{ranks: [a, b, c], switches: [s], links: [{from: [a, b], to: s, rate: 10G}, {from: c, to: "
      "s, rate: 1G}]}");
  const auto classes = classes_of(t);
  CHECK(classes[0] == classes[1]);
  CHECK(classes[0] != classes[2]);
}

}  // namespace dlcp::synth
