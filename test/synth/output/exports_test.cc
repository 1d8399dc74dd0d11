// Files for other programs: MSCCL's XML and the picture.
#include <deque>
#include <map>
#include <regex>
#include <tuple>

#include "synth/flow/packing.h"
#include "synth/input/fabric_input.h"
#include "synth/input/intent_input.h"
#include "synth/networks.h"
#include "synth/output/msccl_xml.h"
#include "synth/output/mscclpp_json.h"
#include "synth/output/timeline.h"
#include "synth/search/candidates.h"
#include "synth/search/levels.h"
#include "synth/search/synthesis.h"

namespace dlcp::synth {
namespace {

struct Step {
  std::string type, buffer;
  int offset = 0, count = 0, wait_block = -1, wait_step = -1;
};
struct Block {
  int send = -1, receive = -1;
  std::vector<Step> steps;
};

// The XML as an interpreter reads it, by GPU and thread block.
std::vector<std::vector<Block>> read_xml(const std::string& xml) {
  std::vector<std::vector<Block>> gpus;
  static const std::regex kLine(R"re(<(gpu|tb|step) (.*?)/?>)re"), kPair(R"re((\w+)="([^"]*)")re");
  for (std::sregex_iterator at(xml.begin(), xml.end(), kLine), end; at != end; ++at) {
    std::map<std::string, std::string> values;
    const std::string rest = (*at)[2];
    for (std::sregex_iterator pair(rest.begin(), rest.end(), kPair); pair != end; ++pair)
      values[(*pair)[1]] = (*pair)[2];
    if ((*at)[1] == "gpu") gpus.emplace_back();
    if ((*at)[1] == "tb")
      gpus.back().push_back({std::stoi(values["send"]), std::stoi(values["recv"]), {}});
    if ((*at)[1] == "step")
      gpus.back().back().steps.push_back({values["type"], values["srcbuf"],
                                          std::stoi(values["srcoff"]), std::stoi(values["cnt"]),
                                          std::stoi(values["depid"]), std::stoi(values["deps"])});
  }
  return gpus;
}

// Runs the XML on numbers: cells of (GPU, buffer, offset), messages in the order of blocks.
class Interpreter {
 public:
  explicit Interpreter(const std::string& xml) : gpus_(read_xml(xml)) {}
  std::map<std::tuple<int, std::string, int>, double> cells;

  bool run() {
    std::map<std::tuple<int, int>, std::deque<std::vector<double>>> wires;
    std::map<std::pair<int, int>, std::size_t> at;
    for (bool moved = true; moved;) {
      moved = false;
      for (int g = 0; g < static_cast<int>(gpus_.size()); g++) {
        for (int b = 0; b < static_cast<int>(gpus_[static_cast<std::size_t>(g)].size()); b++) {
          const Block& block = gpus_[static_cast<std::size_t>(g)][static_cast<std::size_t>(b)];
          std::size_t& next = at[{g, b}];
          if (next == block.steps.size()) continue;
          const Step& step = block.steps[next];
          if (step.wait_block >= 0 &&
              at[{g, step.wait_block}] <= static_cast<std::size_t>(step.wait_step))
            continue;
          if (step.type == "s") {
            std::vector<double> data;
            for (int i = 0; i < step.count; i++)
              data.push_back(cells[{g, step.buffer, step.offset + i}]);
            wires[{g, block.send}].push_back(data);
          } else if (step.type == "r" || step.type == "rrc") {
            auto& wire = wires[{block.receive, g}];
            if (wire.empty()) continue;
            for (int i = 0; i < step.count; i++) {
              double& cell = cells[{g, step.buffer, step.offset + i}];
              cell = (step.type == "rrc" ? cell : 0) + wire.front().at(static_cast<std::size_t>(i));
            }
            wire.pop_front();
          } else if (step.type == "cpy") {
            for (int i = 0; i < step.count; i++)
              cells[{g, "o", step.offset + i}] = cells[{g, "i", step.offset + i}];
          }
          next++;
          moved = true;
        }
      }
    }
    for (int g = 0; g < static_cast<int>(gpus_.size()); g++) {
      for (int b = 0; b < static_cast<int>(gpus_[static_cast<std::size_t>(g)].size()); b++)
        if (at[{g, b}] !=
            gpus_[static_cast<std::size_t>(g)][static_cast<std::size_t>(b)].steps.size())
          return false;
    }
    return true;
  }

 private:
  std::vector<std::vector<Block>> gpus_;
};

void check_xml(const Schedule& s) {
  Interpreter run(msccl_xml(s, "t"));
  const bool to_all = s.collective == Collective::kAllToAll,
             gathers = s.collective == Collective::kAllGather;
  const int all = to_all ? s.units * s.ranks : s.units, shard = s.units / s.ranks;
  for (int g = 0; g < s.ranks; g++) {
    for (int i = 0; i < all; i++) {
      if (gathers && i / shard != g) continue;
      run.cells[{g, gathers ? "o" : "i", i}] = 1000 * g + i;
    }
  }
  REQUIRE(run.run());
  int wrong = 0;
  for (int g = 0; g < s.ranks; g++) {
    for (int i = 0; i < all; i++) {
      double wanted = 1000.0 * (s.ranks * (s.ranks - 1) / 2) + i * s.ranks;  // the sum
      if (gathers) wanted = 1000 * (i / shard) + i;
      if (to_all) wanted = 1000 * (i / s.units) + g * s.units + i % s.units;
      if (s.collective == Collective::kReduceScatter && i / shard != g) continue;
      wrong += run.cells[{g, gathers || to_all ? "o" : "i", i}] != wanted;
    }
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("MSCCL's XML computes the collective") {
  const Topology topology = star(6);
  const Routes routes(topology);
  for (const Collective collective : kCollectives) {
    for (const Recipe& recipe : regular_candidates(topology, routes, collective)) {
      INFO(name_of(collective) << " by " << recipe.name);
      check_xml(expand(recipe, collective, 6).value());
    }
  }
  const Topology boxes = taccl("ndv2.json", "ndv2-x2.json");
  for (const Collective collective : kCollectives) {
    INFO(name_of(collective) << " between boxes");
    const auto recipe = pack(boxes, Routes(boxes), collective, bound_of(boxes, collective), 1);
    REQUIRE(recipe.has_value());
    check_xml(expand(*recipe, collective, 16).value());
  }
}

TEST_CASE("plans that exceed MSCCL++'s executor are refused, and plans can be made to fit") {
  const Topology topology = star(40);
  const Recipe direct{.name = "direct",
                      .family = Family::kExchange,
                      .order = order_by_levels(topology),
                      .levels = {{40, false}},
                      .trees = {},
                      .reducing = {},
                      .schedule = {}};
  const auto schedule = expand(direct, Collective::kAllToAll, 40).value();
  REQUIRE_FALSE(fits_mscclpp(schedule, 1));
  REQUIRE(mscclpp_json(schedule, {"x"}).error().what.find("64 operations or 16 channels") !=
          std::string::npos);

  Wishes wishes;
  wishes.accepts = [](const Schedule& one) { return fits_mscclpp(one, 1); };
  const auto made = synthesise(star(24), Collective::kAllToAll, {1 << 20}, wishes);
  REQUIRE(made.ok());
  REQUIRE(made.value().verified);
  const Recipe& taken = made.value().plan.brackets.back().recipe;
  REQUIRE(fits_mscclpp(expand(taken, Collective::kAllToAll, 24).value(), 1));
  wishes.accepts = [](const Schedule&) { return false; };
  REQUIRE_FALSE(synthesise(topology, Collective::kAllReduce, {1 << 20}, wishes).ok());
}

TEST_CASE("the picture has a bar for each message") {
  const Topology topology = star(4);
  const Routes routes(topology);
  const auto schedule = expand(nccl_ring({0, 1, 2, 3}), Collective::kAllReduce, 4).value();
  const std::string svg =
      timeline_svg(topology, schedule, simulate(topology, routes, schedule, 1e6, true), "a <b>");
  std::size_t bars = 0;
  for (auto at = svg.find("<title>"); at != std::string::npos; at = svg.find("<title>", at + 1))
    bars++;
  CHECK(bars == schedule.messages.size());
  CHECK(svg.find("a &lt;b&gt;") != std::string::npos);
}

TEST_CASE("an order file is a network of its groups") {
  const std::string text =
      R"({"version": 1, "hosts": [{"name": "a", "gb_per_s": 100}, {"name": "b", "gb_per_s": 100}, {"name": "c"}, {"name": "d", "silent": true}],
    "fabric": {"name": "f", "round_trip_us": 24, "groups": [{"name": "l0", "round_trip_us": 12, "uplink_gb_per_s": 50, "hosts": ["a", "b"]}, {"name": "l1", "hosts": ["c", "d"]}]},
    "order": [2, 0, 1, 3]})";
  std::string named = text;
  const std::string from = "[2, 0, 1, 3]";
  named.replace(named.find(from), from.size(), R"(["c", "a", "b", "d"])");
  CHECK(is_order_file(named));
  auto topology = parse_order_file(named, "order.json");
  INFO((topology.ok() ? std::string() : topology.error().message()));
  REQUIRE(topology.ok());
  CHECK(topology->ranks() == 3);
  CHECK(topology->rank_name(0) == "c");
  CHECK(levels_of(topology.value()).front().groups == 2);
  CHECK(topology->notes.size() == 3);  // d does not answer, c has no rate, l1 no uplink
  // Two of three shards leave l0.
  CHECK(bound_of(topology.value(), Collective::kAllGather).rate == Approx(6.25e9 * 3 / 2));
}

TEST_CASE("an intent is a network of leaves and spines") {
  const std::string text = R"(
fabric: {name: pod, base_rtt: 16us, link_speed: 100G}
switches:
  - {name: 'leaf[1-2]', role: leaf, ports: [{ports: 'Ethernet[0-24:8]', role: host, trust: dscp}, {ports: swp9, role: host, trust: remark}, {ports: 'swp[1-2]', role: fabric}]}
  - {name: spine, role: spine, ports: [{ports: ['swp[1-2]', 'swp[3-4]'], role: fabric}]}
)";
  CHECK(is_intent(text));
  auto topology = parse_intent(text, "intent.yaml");
  INFO((topology.ok() ? std::string() : topology.error().message()));
  REQUIRE(topology.ok());
  CHECK(topology->ranks() == 8);
  CHECK(topology->rank_name(1) == "leaf1:Ethernet8");
  CHECK(bound_of(topology.value(), Collective::kAllToAll).rate == Approx(25e9 * 8 / 16));
}

TEST_CASE("a range of ports may end at the largest number") {
  auto topology = parse_intent(
      R"(
fabric: {link_speed: 100G}
switches:
  - {name: leaf, ports: [{ports: 'Ethernet[0-18446744073709551615:9223372036854775808]', role: host}]}
)",
      "intent.yaml");
  REQUIRE(topology.ok());
  CHECK(topology->ranks() == 2);
  CHECK(topology->rank_name(1) == "leaf:Ethernet9223372036854775808");
}

}  // namespace dlcp::synth
