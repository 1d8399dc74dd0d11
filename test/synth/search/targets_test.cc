// Goals that plans must reach, by simulation and by the proven bound.
#include "sanitized.h"
#include "synth/networks.h"
#include "synth/search/synthesis.h"

namespace dlcp::synth {
namespace {

Synthesis made_for(const Topology& topology, Collective collective,
                   std::vector<double> sizes = {1e9}) {
  auto made = synthesise(topology, collective, sizes);
  REQUIRE(made.ok());
  INFO(made->fault);
  CHECK(made->verified);
  CHECK(made->ranks_taking_part == topology.ranks());
  return made.value();
}

double ratio_of(const Topology& topology, Collective collective) {
  return made_for(topology, collective).outcomes.back().ratio();
}

double of_bound(const Outcome& outcome, double seconds) {
  return outcome.bound_seconds / seconds;
}

}  // namespace

TEST_CASE("boxes of GPUs: 0.99 of the bound at 1 GB, and all GPUs take part") {
  CHECK(ratio_of(taccl("ndv2.json", "ndv2-x2.json"), Collective::kAllGather) >= 0.99);
  CHECK(ratio_of(taccl("ndv2.json", "ndv2-x2.json"), Collective::kAllToAll) >= 0.99);
  if (test::kSanitized) return;
  CHECK(ratio_of(taccl("ndv2.json", "ndv2-x4.json"), Collective::kAllGather) >= 0.99);
  CHECK(ratio_of(taccl("dgx2.json", "dgx2-x2.json"), Collective::kAllGather) >= 0.99);
  CHECK(ratio_of(taccl("ndv2.json", "ndv2-x4.json"), Collective::kAllToAll) >= 0.99);
  CHECK(ratio_of(taccl("dgx2.json", "dgx2-x2.json"), Collective::kAllToAll) >= 0.99);
}

TEST_CASE(
    "a slow host, a slow leaf or unequal NICs: AllReduce within 5% of the bound, a ring not") {
  struct Row {
    const char* network;
    double ring_max;  // share of the bound that a ring reaches
  };
  const Row table[] = {
      {"{ranks: 'h[0-15]', switches: [s], links: [{from: 'h[0-14]', to: s, rate: 100G}, {from: "
       "h15, to: s, rate: 50G}]}",
       0.6},
      {"{ranks: 'h[0-15]', switches: ['l[0-3]', spine], links: [{from: 'h[0-3]', to: l0, rate: "
       "100G}, {from: 'h[4-7]', to: l1, rate: 100G}, {from: 'h[8-11]', to: l2, rate: 100G}, {from: "
       "'h[12-15]', to: l3, rate: 100G}, {from: 'l[0-2]', to: spine, rate: 400G}, {from: l3, to: "
       "spine, rate: 60G}]}",
       0.7},
      {"{ranks: 'h[0-15]', switches: [s], links: [{from: 'h[0-7]', to: s, rate: 200G}, {from: "
       "'h[8-15]', to: s, rate: 100G}]}",
       0.7},
  };
  for (const Row& row : table) {
    INFO(row.network);
    const Outcome o = made_for(parsed(row.network), Collective::kAllReduce).outcomes.back();
    CHECK(o.ratio() >= 0.95);
    CHECK(of_bound(o, o.ring_seconds) < row.ring_max);
  }
}

TEST_CASE("hosts with two NICs use both") {
  const Topology topology = parsed(
      "{ranks: 'h[0-7]', switches: [a, b], links: [{from: 'h[0-7]', to: a, rate: 100G}, {from: "
      "'h[0-7]', to: b, rate: 100G}]}");
  CHECK(ratio_of(topology, Collective::kAllGather) >= 0.95);
  CHECK(ratio_of(topology, Collective::kAllReduce) >= 0.95);
}

TEST_CASE("links with a slower direction, and few or many ranks") {
  const Topology uneven = parsed(
      "{ranks: 'h[0-4]', switches: [s], links: [{from: 'h[0-4]', to: s, rate: 100G, one_way: yes}, "
      "{from: s, to: 'h[0-4]', rate: 50G, one_way: yes}]}");
  for (const Collective collective : kCollectives) {
    CHECK(ratio_of(uneven, collective) >= 0.9);
    for (const int n : {1, 2, 3, 7})
      CHECK(ratio_of(star(n), collective) >= 0.9);
  }
}

TEST_CASE("sizes from 1 byte to 1 TB") {
  const Synthesis s = made_for(leaf_spine(4, 4, "100G", "100G"), Collective::kAllReduce,
                               {1, 1024, 65536, 1e6, 1e9, 1e12});
  double before = 0;
  for (const Outcome& o : s.outcomes) {
    CHECK(o.ratio() <= 1);
    CHECK(o.seconds >= before);
    before = o.seconds;
  }
  // For small sizes few steps are best: a ring has 30.
  CHECK(s.outcomes[2].ring_seconds > 3 * s.outcomes[2].seconds);
  CHECK(s.outcomes[2].tree_seconds > 1.2 * s.outcomes[2].seconds);
  CHECK(s.outcomes.back().ratio() >= 0.95);
}

// Once, relaying paths were searched even where direct links have equal load; that took minutes.
TEST_CASE("an all-to-all of many hosts is planned immediately, with direct paths") {
  const auto made =
      made_for(leaf_spine(test::kSanitized ? 6 : 16, 16, "100G", "1600G"), Collective::kAllToAll);
  CHECK(made.plan.brackets.back().recipe.name.starts_with("direct"));
  CHECK(made.outcomes.back().ratio() >= 0.99);
}

TEST_CASE("an all-to-all on a torus with more ranks than are routed individually is planned") {
  std::string links;
  for (int rank = 0; rank < 80; rank++) {
    const int right = rank / 10 * 10 + (rank + 1) % 10;
    for (const int to : {right, (rank + 10) % 80})
      links += fmt::format("  - {{from: h{}, to: h{}, rate: 100G}}\n", rank, to);
  }
  const auto made = made_for(parsed("ranks: h[0-79]\nlinks:\n" + links), Collective::kAllToAll);
  CHECK(made.plan.brackets.back().recipe.name == "packed paths");
}

TEST_CASE("512 hosts on leaves and spines") {
  const int leaves = test::kSanitized ? 4 : 32;
  const Synthesis s =
      made_for(leaf_spine(leaves, 16, "100G", "400G"), Collective::kAllReduce, {1e9});
  CHECK(s.outcomes.back().ratio() > 0.5);
}

}  // namespace dlcp::synth
