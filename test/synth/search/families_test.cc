#include <numeric>

#include "synth/evaluate/simulate.h"
#include "synth/evaluate/verify.h"
#include "synth/flow/packing.h"
#include "synth/networks.h"
#include "synth/plan/exchange.h"
#include "synth/plan/gathers.h"
#include "synth/search/candidates.h"

namespace dlcp::synth {

TEST_CASE("every regular algorithm is correct for every number of ranks") {
  for (const int n : {1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 16, 33}) {
    const Topology topology = star(n);
    const Routes routes(topology);
    for (const Collective collective : kCollectives) {
      const auto all = regular_candidates(topology, routes, collective);
      CHECK(!all.empty());
      for (Recipe recipe : all) {
        for (const int slices : {1, 3}) {
          recipe.slices = slices;
          auto schedule = expand(recipe, collective, n);
          REQUIRE(schedule.ok());
          const Verdict verdict = verify(schedule.value(), &routes);
          INFO(n << " ranks, " << name_of(collective) << ", " << recipe.name << " in " << slices
                 << ": " << verdict.why);
          CHECK(verdict.correct);
          CHECK(verdict.ranks_taking_part == n);
        }
      }
    }
  }
}

TEST_CASE("algorithms of two and three levels follow leaves and pods") {
  const Topology topology = parsed(R"(
ranks: h[0-11]
switches: ['l[0-5]', 'p[0-1]', core]
links:
  - {from: 'h[0-1]', to: l0, rate: 100G}
  - {from: 'h[2-3]', to: l1, rate: 100G}
  - {from: 'h[4-5]', to: l2, rate: 100G}
  - {from: 'h[6-7]', to: l3, rate: 100G}
  - {from: 'h[8-9]', to: l4, rate: 100G}
  - {from: 'h[10-11]', to: l5, rate: 100G}
  - {from: 'l[0-2]', to: p0, rate: 100G}
  - {from: 'l[3-5]', to: p1, rate: 100G}
  - {from: 'p[0-1]', to: core, rate: 100G}
)");
  const Routes routes(topology);
  bool two = false, three = false;
  for (const Recipe& recipe : regular_candidates(topology, routes, Collective::kAllReduce)) {
    two |= recipe.name == "direct of 2, direct of 6";
    std::vector<int> radices;
    for (const Level& level : recipe.levels)
      radices.push_back(level.radix);
    three |= radices == std::vector<int>{2, 3, 2};
    CHECK(verify(expand(recipe, Collective::kAllReduce, 12).value(), &routes).correct);
  }
  CHECK(two);
  CHECK(three);
}

TEST_CASE("NCCL's two trees share the work: a rank that forwards in one is a leaf of the other") {
  std::vector<int> order(16);
  std::iota(order.begin(), order.end(), 0);
  const auto trees = double_binary_tree(order);
  std::vector<int> children[2] = {std::vector<int>(16), std::vector<int>(16)};
  for (int t = 0; t < 2; t++) {
    for (const int parent : trees[static_cast<std::size_t>(t)].parent)
      if (parent >= 0) children[t][static_cast<std::size_t>(parent)]++;
  }
  for (std::size_t rank = 0; rank < 16; rank++) {
    CHECK(children[0][rank] <= 2);
    CHECK((children[0][rank] == 0 || children[1][rank] == 0 || children[0][rank] == 1 ||
           children[1][rank] == 1));
  }
}

TEST_CASE("a ring's time is the well-known one") {
  const Topology topology = star(8);
  const Routes routes(topology);
  std::vector<int> order(8);
  std::iota(order.begin(), order.end(), 0);
  const auto schedule = expand(nccl_ring(order), Collective::kAllReduce, 8).value();
  // 14 steps, each with a message's cost at both ends, two links of 1 us, and an eighth of the
  // data.
  const double bytes = 8e6;
  CHECK(simulate(topology, routes, schedule, bytes).seconds ==
        Approx(14 * (4e-6 + bytes / 8 / 12.5e9)).epsilon(0.02));
}

TEST_CASE("messages on one link wait for each other") {
  const Topology topology = parsed(
      "{ranks: [a, b, c, d], switches: [s, t], links: [{from: [a, b], to: s, rate: 100G}, {from: "
      "[c, d], to: t, rate: 100G}, {from: s, to: t, rate: 100G}]}");
  const Routes routes(topology);
  Schedule schedule;
  schedule.ranks = 4;
  schedule.units = 4;
  for (int i = 0; i < 4; i++)
    schedule.chunks.push_back({i, 1, i, -1});
  schedule.add(0, 0, 2, false, Range{0, 1});
  const double one = simulate(topology, routes, schedule, 4e9).seconds;
  schedule.add(0, 1, 3, false, Range{1, 1});
  CHECK(simulate(topology, routes, schedule, 4e9).seconds == Approx(2 * one).epsilon(0.001));
}

TEST_CASE("packed trees and paths are correct if ranks must relay, and on unidirectional links") {
  struct Row {
    const char* network;
    int ranks, slices;
  };
  const Row table[] = {
      // A line: a rank can send to its neighbours only.
      {"{ranks: 'h[0-4]', links: [{from: h0, to: h1, rate: 10G}, {from: h1, to: h2, rate: 20G}, "
       "{from: h2, to: h3, rate: 10G}, {from: h3, to: h4, rate: 10G}]}",
       5, 4},
      {"{ranks: 'h[0-2]', links: [{from: h0, to: h1, rate: 10G, one_way: yes}, {from: h1, to: h2, "
       "rate: 10G, one_way: yes}, {from: h2, to: h0, rate: 10G, one_way: yes}]}",
       3, 2},
  };
  for (const Row& row : table) {
    const Topology topology = parsed(row.network);
    const Routes routes(topology);
    for (const Collective collective : kCollectives) {
      const auto recipe =
          pack(topology, routes, collective, bound_of(topology, collective), row.slices);
      REQUIRE(recipe.has_value());
      const Verdict verdict = verify(expand(*recipe, collective, row.ranks).value(), &routes);
      INFO(row.network << name_of(collective) << ": " << verdict.why);
      CHECK(verdict.correct);
    }
  }
}

}  // namespace dlcp::synth
