// Scenario files: their contents, and what is refused.
#include "catch.h"
#include "cli/simulate/scenario_file.h"

namespace dlcp::cli {
namespace {

const std::string kFabric =
    "fabric: {shape: leaf-spine, leaves: 2, hosts_per_leaf: 2, spines: 2}\n";

Result<std::string> no_file(const std::string& path) {
  return Error{ErrorCode::kInvalidUsage, "cannot read '" + path + "'", ""};
}

std::string refusal(const std::string& text) {
  const auto scenario = parse_scenario(text, "x.yaml", no_file);
  return scenario ? "" : scenario.error().message();
}

TEST_CASE("a scenario names fabric, transports, load and faults") {
  const auto scenario = parse_scenario(
      "title: t\nfabric: {shape: leaf-spine, leaves: 3, hosts_per_leaf: 4, spines: 2, rate: 400G, "
      "uplink_rate: 800G, delay: 500ns}\ntransports: [dctcp, dlcp]\npaths: 16\nloss: 0.1%\n"
      "routing: adaptive\nbuffer: 4M\nqueue: 64k\ncarrier: udp\nmtu: 1500\nloss_to_hosts: 2%\n"
      "faults: [{link: leaf-up, first: 2, count: 3, rate: 10%, after: 1ms, lasts: 2ms, "
      "every: 5ms, both_ways: yes}]\nstorm: {host: 3, after: 1us, lasts: 20ms}\n"
      "load: {kind: incast, senders: 5, bytes: 1MB, may_lose: 2%}\nseeds: 4\nlimit: 2s\n",
      "x.yaml", no_file);
  REQUIRE(scenario);
  const simulate::Scenario& made = scenario.value();
  CHECK(made.title == "t");
  CHECK(made.setting.fabric.hosts() == 12);
  CHECK(made.setting.fabric.host.gbit_per_s == Approx(400));
  CHECK(made.setting.fabric.uplink.gbit_per_s == Approx(800));
  CHECK(made.setting.fabric.host.delay == 500ns);
  CHECK(made.contenders == std::vector{simulate::Contender::kDctcp, simulate::Contender::kDlcp});
  CHECK(made.setting.paths == 16);
  CHECK(made.setting.fabric.adaptive);
  CHECK(made.setting.switch_buffer_bytes == 4 << 20);
  CHECK(made.setting.queue_bytes == 65'536);
  CHECK(made.setting.hosts.ip_bytes == 28);
  CHECK(made.setting.hosts.mtu == 1500);
  CHECK(made.setting.loss_to_hosts == Approx(0.02));
  CHECK(made.setting.loss == Approx(0.001));
  REQUIRE(made.setting.faults.size() == 1);
  CHECK(made.setting.faults[0].tier == simulate::Fabric::Tier::kLeafUp);
  CHECK(made.setting.faults[0].rate == Approx(0.1));
  CHECK(made.setting.faults[0].after == 1ms);
  CHECK(made.setting.faults[0].lasts == 2ms);
  CHECK(made.setting.faults[0].every == 5ms);
  CHECK(made.setting.faults[0].both_ways);
  REQUIRE(made.setting.storm);
  CHECK(made.setting.storm->host == 3);
  CHECK(made.setting.storm->after == 1us);
  CHECK(made.setting.storm->lasts == 20ms);
  CHECK(made.may_lose == Approx(0.02));
  CHECK(made.seeds == 4);
  CHECK(made.setting.limit == 2s);
  CHECK(made.workload(1).size() == 5);
}

TEST_CASE("every kind of load is generated for the hosts of the fabric") {
  for (const char* load :
       {"{kind: permutation, bytes: 1k}", "{kind: ring, bytes: 1k}",
        "{kind: all-to-all, bytes: 1k}", "{kind: training, model: VGG16, part: 1%}",
        "{kind: training, model: GPT-2 XL, algorithm: direct, part: 1%}"}) {
    INFO(load);
    const auto scenario = parse_scenario(kFabric + "load: " + load, "x.yaml", no_file);
    REQUIRE(scenario);
    for (const simulate::Step& step : scenario.value().workload(1)) {
      CHECK(step.transfer.from < 4);
      CHECK(step.transfer.to < 4);
    }
  }
}

TEST_CASE("a matrix is read from the file that the scenario names") {
  const auto scenario =
      parse_scenario(kFabric + "load: {kind: matrix, file: a.cm}", "x.yaml",
                     [](const std::string& path) -> Result<std::string> {
                       CHECK(path == "a.cm");
                       return std::string("Nodes 4\nConnections 1\n2->3 start 0 size 9\n");
                     });
  REQUIRE(scenario);
  CHECK(scenario.value().workload(1)[0].transfer.bytes == 9);
  CHECK_THAT(refusal(kFabric + "load: {kind: matrix, file: a.cm}"),
             Contains("x.yaml: line 2: cannot read 'a.cm'"));
}

TEST_CASE("an impossible scenario is refused with its line and the valid values") {
  const std::string load = "load: {kind: permutation, bytes: 1k}\n";
  CHECK_THAT(refusal("[1, 2]"), Contains("this is not a scenario; see docs/simulation.md"));
  CHECK_THAT(refusal(load), Contains("'fabric' is missing"));
  CHECK_THAT(refusal(kFabric), Contains("'load' is missing"));
  CHECK_THAT(refusal(kFabric + load + "colour: red\n"), Contains("unknown key 'colour'"));
  CHECK_THAT(refusal("fabric: {shape: torus}\n" + load),
             Contains("shape is 'torus'; give switch, leaf-spine or fat-tree"));
  CHECK_THAT(refusal("fabric: {shape: fat-tree, radix: 5}\n" + load),
             Contains("give an even number"));
  CHECK_THAT(
      refusal("fabric: {shape: leaf-spine, leaves: 1000, hosts_per_leaf: 9, spines: 1}\n" + load),
      Contains("9000 hosts; give 2 to 4096"));
  CHECK_THAT(refusal(kFabric + load + "transports: [dlcp, tcp]\n"),
             Contains("line 3: 'tcp' is not a transport; give one or more of dlcp, nscc, dctcp, "
                      "pfabric, pias, ndp, roce"));
  CHECK_THAT(refusal(kFabric + load + "transports: [dlcp, dctcp, dlcp]\n"),
             Contains("line 3: 'dlcp' is given twice"));
  CHECK_THAT(refusal(kFabric + load + "carrier: pigeon\n"), Contains("give roce or udp"));
  CHECK_THAT(refusal(kFabric + load + "mtu: 99999\n"), Contains("give 1280 to 9000"));
  CHECK_THAT(refusal(kFabric + load + "routing: random\n"), Contains("give hash or adaptive"));
  CHECK_THAT(refusal(kFabric + "load: {kind: permutation, bytes: 1G}\n"),
             Contains("bytes is '1G'"));
  CHECK_THAT(refusal(kFabric + "load: {kind: incast, bytes: 1k, senders: 4}\n"),
             Contains("senders is '4'; give 1 to 3"));
  CHECK_THAT(refusal(kFabric + "load: {kind: permutation, bytes: 1k, may_lose: 50%}\n"),
             Contains("may_lose is '50%'"));
  CHECK_THAT(refusal(kFabric + load + "faults: [{link: sideways}]\n"),
             Contains("link is 'sideways'"));
  CHECK_THAT(refusal(kFabric + load + "faults: [{link: spine-up}]\n"),
             Contains("affects spine-up links 0 to 0; this fabric has no such links"));
  CHECK_THAT(refusal(kFabric + load + "faults: [{link: leaf-up, first: 2, count: 3}]\n"),
             Contains("affects leaf-up links 2 to 4; this fabric has 4 of them, 0 to 3"));
  CHECK_THAT(
      refusal(kFabric + load + "faults: [{link: leaf-up, lasts: 5ms, every: 5ms}]\n"),
      Contains(
          "repeats every 5ms and lasts 5ms; give 'lasts', with a value below that of 'every'"));
  CHECK_THAT(refusal(kFabric + load + "storm: {host: 4, lasts: 1ms}\n"),
             Contains("host is '4'; give 0 to 3"));
  CHECK_THAT(refusal(kFabric + load + "storm: {host: 1}\n"), Contains("'lasts' is missing"));
  CHECK_THAT(refusal(kFabric + "load: {kind: training, model: LeNet}\n"),
             Contains("give one of ResNet50, VGG16, BERT-large, GPT-2 XL"));
}

}  // namespace
}  // namespace dlcp::cli
