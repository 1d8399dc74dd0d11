#include "synth/search/greedy.h"

#include <random>

#include "synth/evaluate/simulate.h"
#include "synth/evaluate/verify.h"
#include "synth/networks.h"
#include "synth/search/synthesis.h"

namespace dlcp::synth {
namespace {

// A tree of links with three rates, plus the same number of links between ranks that it does not
// connect.
Topology irregular(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  const int ranks = 5 + below(6), rates[] = {25, 50, 100};
  std::string links;
  for (int to = 1; to < 2 * ranks; to++) {
    const int a = to < ranks ? to : below(static_cast<unsigned>(ranks)),
              b = to < ranks ? below(static_cast<unsigned>(to)) : (a + 1) % ranks;
    links += fmt::format("  - {{from: h{}, to: h{}, rate: {}G, one_way: {}}}\n", a, b,
                         rates[below(3)], to < ranks ? "no" : "yes");
  }
  return parsed(fmt::format("ranks: h[0-{}]\nlinks:\n{}", ranks - 1, links));
}

}  // namespace

TEST_CASE("a greedy schedule is correct on any network, for any number of parts") {
  for (std::uint32_t seed = 0; seed < 50; seed++) {
    const Topology topology = irregular(seed);
    const Routes routes(topology);
    for (const Collective collective : kCollectives) {
      for (const int parts : {1, 3}) {
        const auto recipe = greedy(topology, routes, collective, 1e6, parts);
        REQUIRE(recipe.has_value() == (collective != Collective::kAllToAll));
        if (!recipe) continue;
        const auto schedule = expand(*recipe, collective, topology.ranks());
        const Verdict verdict = verify(schedule.value(), &routes);
        INFO("seed " << seed << ", " << name_of(collective) << ": " << verdict.why);
        CHECK(verdict.correct);
      }
    }
  }
}

TEST_CASE(
    "no plan is slower than a greedy one, and on small irregular networks the plan is greedy") {
  int greedy_plans = 0;
  for (std::uint32_t seed = 0; seed < 10; seed++) {
    const Topology topology = irregular(seed);
    const Routes routes(topology);
    for (const double bytes : {4096.0, 1e8}) {
      const auto made = synthesise(topology, Collective::kAllReduce, {bytes}).value();
      CHECK(made.verified);
      const auto& chosen = made.plan.brackets.front().recipe;
      greedy_plans += chosen.family == Family::kExplicit && chosen.name.starts_with("greedy");
      const auto recipe = greedy(topology, routes, Collective::kAllReduce, bytes, 1);
      const auto schedule = expand(*recipe, Collective::kAllReduce, topology.ranks()).value();
      CHECK(made.outcomes[0].seconds <= simulate(topology, routes, schedule, bytes).seconds);
    }
  }
  CHECK(greedy_plans >= 10);
}

TEST_CASE("the plan takes the predicted time for each size, and at least that of the bound") {
  for (std::uint32_t seed = 0; seed < 10; seed++) {
    const Topology topology = irregular(seed);
    const Routes routes(topology);
    for (const Collective collective : kCollectives) {
      const auto made = synthesise(topology, collective, {1e3, 1e6, 1e9}).value();
      for (const Outcome& outcome : made.outcomes) {
        const auto& recipe = made.plan.brackets[outcome.bracket].recipe;
        const auto schedule = expand(recipe, collective, topology.ranks()).value();
        INFO("seed " << seed << ", " << name_of(collective) << ", " << outcome.bytes);
        CHECK(simulate(topology, routes, schedule, outcome.bytes).seconds ==
              Approx(outcome.seconds));
        CHECK(outcome.seconds >= outcome.bound_seconds * (1 - 1e-9));
      }
    }
  }
}

TEST_CASE("an all-gather takes the fast way round a slow link") {
  // From a to c directly, 8 ms; over b, 2 ms.
  const Topology topology = parsed(
      "{ranks: [a, b, c], links: [{from: a, to: b, rate: 8G}, {from: b, to: c, rate: 8G}, {from: "
      "a, to: c, rate: 1G}]}");
  const Routes routes(topology);
  const auto recipe = greedy(topology, routes, Collective::kAllGather, 3e6, 1);
  REQUIRE(recipe.has_value());
  const auto schedule = expand(*recipe, Collective::kAllGather, 3).value();
  for (const Message& m : schedule.messages)
    CHECK((m.from == 1 || m.to == 1));
  CHECK(simulate(topology, routes, schedule, 3e6).seconds == Approx(2e-3).epsilon(0.01));
}

TEST_CASE("large networks use other algorithms") {
  const Topology topology = star(150);
  CHECK(!greedy(topology, Routes(topology), Collective::kAllGather, 1e6, 1));
}

}  // namespace dlcp::synth
