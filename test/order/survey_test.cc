// Leaves are found with few probes despite noise in single measurements, and no false ones are
// reported.
#include "order/measure/survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "catch.h"
#include "order/discover/find_fabric.h"
#include "order/measure/simulated_network.h"
#include "sim/seeds.h"

using namespace dlcp;
using namespace dlcp::order;

namespace {

struct Outcome {
  Survey survey;
  fabric::Fabric fabric;
  std::size_t probes = 0;
  int rounds = 0;
};

SimulationSpec spec_of(std::string_view text) {
  const auto spec = parse_simulation(text);
  INFO((spec.ok() ? "" : spec.error().message()));
  REQUIRE(spec.ok());
  return spec.value();
}

// `silent`: this host answers no probe; -1: none.
Outcome explore(const SimulatedNetwork& network, const SurveyOptions& options = {},
                int silent = -1) {
  const auto& hosts = network.truth().hosts;
  Measurements known(static_cast<int>(hosts.size()));
  Outcome outcome;
  while (true) {
    outcome.survey = survey(known, options);
    if (outcome.survey.wanted.empty()) break;
    for (const Pair pair : outcome.survey.wanted)
      known.add(pair,
                pair.from == silent || pair.to == silent ? Measurement{} : network.measure(pair));
    outcome.probes += outcome.survey.wanted.size();
    REQUIRE(++outcome.rounds < 10'000);
  }
  outcome.fabric = find_fabric(hosts, known, outcome.survey);
  REQUIRE(fabric::check(outcome.fabric).ok());
  return outcome;
}

// The leaves as sets of hosts.
std::vector<std::vector<int>> true_leaves(const SimulatedNetwork& network) {
  const auto members = fabric::members(network.truth());
  std::vector<std::vector<int>> sets;
  for (const int leaf : fabric::leaves(network.truth()))
    sets.push_back(members[static_cast<std::size_t>(leaf)]);
  std::ranges::sort(sets);
  return sets;
}

bool finds_leaves(const std::string& text) {
  const SimulatedNetwork network(spec_of(text));
  return explore(network).survey.leaves == true_leaves(network);
}

}  // namespace

TEST_CASE("512 hosts on 32 leaves: all leaves are found under 30% noise within 3 N log2 N probes") {
  test::for_each_seed(
      10,
      [](std::uint64_t seed) {
        const SimulatedNetwork network(
            spec_of(fmt::format("hosts=512,leaves=32,noise=0.3,seed={}", seed)));
        const Outcome outcome = explore(network);
        CHECK(outcome.survey.leaves == true_leaves(network));
        CHECK(outcome.probes <= 3 * 512 * 9);
        CHECK(outcome.rounds <= 90);
      });
}

TEST_CASE("a flat network has one leaf, whatever the noise") {
  test::for_each_seed(
      10,
      [](std::uint64_t seed) {
        for (const int hosts : {2, 3, 4, 5, 8, 12, 16, 24, 25, 48, 100, 512}) {
          INFO(hosts << " hosts");
          CHECK(finds_leaves(fmt::format("hosts={},noise=0.3,seed={}", hosts, seed)));
        }
      });
}

TEST_CASE("leaves of many sizes are found") {
  test::for_each_seed(
      10,
      [](std::uint64_t seed) {
        for (const char* shape :
             {"hosts=16,leaves=4", "hosts=8,leaves=2", "hosts=24,leaves=6", "hosts=48,leaves=3",
              "hosts=64,leaves=2", "hosts=100,leaves=7", "hosts=256,leaves=64",
              "hosts=128,leaves=8,uneven=1", "hosts=300,leaves=4,uneven=1"}) {
          INFO(shape);
          CHECK(finds_leaves(fmt::format("{},noise=0.2,seed={}", shape, seed)));
        }
      });
}

TEST_CASE("one, two or three hosts need no more probes than they have pairs") {
  for (const int hosts : {1, 2, 3}) {
    const SimulatedNetwork network(spec_of(fmt::format("hosts={}", hosts)));
    const Outcome outcome = explore(network);
    CHECK(outcome.survey.leaves == true_leaves(network));
    CHECK(outcome.probes == static_cast<std::size_t>(hosts * (hosts - 1) / 2));
  }
}

TEST_CASE("a third tier is found by the same method as the second") {
  test::for_each_seed(
      10,
      [](std::uint64_t seed) {
        const SimulatedNetwork network(
            spec_of(fmt::format("hosts=512,leaves=32,pods=4,noise=0.2,seed={}", seed)));
        const Outcome outcome = explore(network);
        CHECK(outcome.survey.leaves == true_leaves(network));
        const auto found = fabric::members(outcome.fabric);
        const auto truth = fabric::members(network.truth());
        for (std::size_t pod = 1; pod <= 4; ++pod)
          CHECK(std::ranges::count(found, truth[pod]) == 1);
        CHECK(outcome.fabric.groups.size() == network.truth().groups.size());
      });
}

TEST_CASE("if answers show how many routers they passed, noise has no effect") {
  test::for_each_seed(
      5,
      [](std::uint64_t seed) {
        CHECK(finds_leaves(fmt::format("hosts=512,leaves=32,noise=0.9,hops=1,seed={}", seed)));
      });
}

TEST_CASE("different delays in the two directions do not hide the leaves") {
  test::for_each_seed(
      5,
      [](std::uint64_t seed) {
        CHECK(
            finds_leaves(fmt::format("hosts=512,leaves=32,noise=0.1,asymmetry=0.2,seed={}", seed)));
      });
}

TEST_CASE("hosts that answer no other host are named and delay no other host") {
  for (const char* shape : {"hosts=512,leaves=32", "hosts=512", "hosts=16,leaves=4"}) {
    const SimulatedNetwork network(spec_of(fmt::format("{},noise=0.2,silent=3,seed=5", shape)));
    const Outcome outcome = explore(network);
    INFO(shape);
    const int first = network.truth().hosts.size() == 16 ? 8 : 256;
    CHECK(outcome.survey.silent == std::vector<int>{first, first + 1, first + 2});
    auto expected = true_leaves(network);
    for (auto& leaf : expected)
      std::erase_if(
          leaf, [&](int host) { return host >= first && host < first + 3; });
    std::erase_if(expected, [](const auto& leaf) { return leaf.empty(); });
    std::ranges::sort(expected);
    CHECK(outcome.survey.leaves == expected);
    CHECK(outcome.fabric.hosts[static_cast<std::size_t>(first)].silent);
  }
  const SimulatedNetwork dead(spec_of("hosts=40,silent=40"));
  CHECK(explore(dead).survey.silent.size() == 40);
}

TEST_CASE("large leaves are found although the first host does not answer") {
  const SimulatedNetwork network(spec_of("hosts=80,leaves=2"));
  const Outcome outcome = explore(network, {}, 0);
  CHECK(outcome.survey.silent == std::vector<int>{0});
  auto expected = true_leaves(network);
  for (auto& leaf : expected)
    std::erase(leaf, 0);
  std::ranges::sort(expected);
  CHECK(outcome.survey.leaves == expected);
}

TEST_CASE("every pair is measured if the user requests it, with the same result") {
  const SimulatedNetwork network(spec_of("hosts=128,leaves=8,noise=0.3,seed=3"));
  const Outcome outcome = explore(network, {true});
  CHECK(outcome.probes == 128 * 127 / 2);
  CHECK(outcome.survey.leaves == true_leaves(network));
}

TEST_CASE("round trips of leaf and fabric are medians of the measurements") {
  const SimulatedNetwork network(spec_of("hosts=64,leaves=4,noise=0.1,seed=2"));
  const auto fabric = explore(network).fabric;
  CHECK(fabric.groups[0].round_trip_us == Approx(20).epsilon(0.05));
  CHECK(fabric.groups[1].round_trip_us == Approx(10).epsilon(0.05));
}
