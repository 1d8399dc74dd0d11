// Whatever the network does, every message arrives once, complete and in order. The ledger checks
// every byte in each of these tests.
#include <set>

#include "random_world.h"
#include "seeds.h"

using namespace dlcp;
using namespace dlcp::test;
using namespace dlcp::datapath::sim;

namespace {

// Builds the world of a seed, applies `disturb` to it, and runs it to the end.
template <class Disturb>
std::uint64_t run_random_story(std::uint64_t seed, Duration limit, Disturb&& disturb) {
  Rng rng(seed);
  World world(random_world(rng, seed));
  disturb(world, rng);
  add_random_traffic(world, rng);
  world.finish(limit);
  return world.event_hash();
}

}  // namespace

TEST_CASE("every message arrives over a clean network") {
  for_each_seed(
      300,
      [](std::uint64_t seed) {
        run_random_story(
            seed, 5s, [](World&, Rng&) {});
      });
}

TEST_CASE("every message arrives despite loss, duplicates, reordering and corruption") {
  for_each_seed(
      2000,
      [](std::uint64_t seed) {
        run_random_story(
            seed, 60s,
            [](World& world, Rng& rng) {
              const auto checksum = world.endpoint(0).config().protection;
              world.network().set_edge_faults(random_faults(rng, 0.2, checksum));
            });
      });
}

TEST_CASE("every message arrives while some of the paths are black holes") {
  for_each_seed(
      300,
      [](std::uint64_t seed) {
        Rng rng(seed);
        auto config = random_world(rng, seed);
        for (auto& host : config.network.hosts)
          host.paths = 16;
        World world(std::move(config));
        LinkFaults faults = random_faults(rng, 0.02, world.endpoint(0).config().protection);
        for (int i = 0; i < 16; ++i)
          faults.blackhole_classes |= std::uint64_t{1} << rng.below(64);
        faults.blackhole_seed = seed;
        world.network().set_faults(faults);
        add_random_traffic(world, rng);
        world.finish(60s);
      });
}

TEST_CASE("messages delayed by heavy faults arrive soon after the faults stop") {
  for_each_seed(
      200,
      [](std::uint64_t seed) {
        Rng rng(seed);
        World world(random_world(rng, seed));
        auto faults = random_faults(rng, 0.2, world.endpoint(0).config().protection);
        faults.drop = 0.3 + 0.3 * rng.unit();
        world.network().set_edge_faults(faults);
        add_random_traffic(world, rng);
        world.run_for(50ms);
        world.network().set_edge_faults({});
        world.finish(10s);
      });
}

TEST_CASE("messages of a few megabytes cross a lossy fabric") {
  for_each_seed(
      6,
      [](std::uint64_t seed) {
        WorldConfig config;
        config.network = leaf_spine(2, 2, 1, {.mtu = 4200}, {});
        config.network.seed = config.seed = seed;
        World world(std::move(config));
        world.network().set_faults({.drop = 0.02, .duplicate = 0.01, .reorder = 0.05});
        const auto flow = world.open_flow(0, 1);
        const auto back = world.open_flow(1, 0);
        for (std::size_t bytes : {std::size_t{3} << 20, (std::size_t{2} << 20) + 1}) {
          world.transfer(flow, bytes);
          world.transfer(back, bytes, Time{}, time_from_ns(3'000'000), 1 << 20);
        }
        world.finish(60s);
      });
}

TEST_CASE("a send waits for its receive, however late that is posted") {
  for_each_seed(
      20,
      [](std::uint64_t seed) {
        World world(behind_a_switch(seed));
        const auto flow = world.open_flow(0, 1);
        for (std::size_t k = 0; k < 40; ++k)
          world.transfer(flow, 30'000, Time{}, time_from_ns(200'000'000 + 100'000 * k));
        world.run_until(time_from_ns(199'000'000));
        REQUIRE(world.flow(flow).receives_done == 0);
        // Early data is stored within bounds; the sender probes at intervals, not continuously.
        REQUIRE(world.sum(core::Counter::kUnpostedKept) > 0);
        REQUIRE(world.sum(core::Counter::kProbesSent) < 40);
        world.finish(5s);
      });
}

TEST_CASE("a receive waits for its send, and idle connections stay open") {
  WorldConfig config = behind_a_switch();
  config.core.peer_timeout = 2s;
  World world(std::move(config));
  const auto flow = world.open_flow(0, 1);
  world.transfer(flow, 1000);
  world.transfer(flow, 70'000, time_from_ns(60'000'000'000));  // a minute later
  world.finish(90s);
}

TEST_CASE(
    "a message larger than its buffer fails the connection and writes nothing beyond the buffer") {
  World world(behind_a_switch());
  world.ledger().allow_failures();
  world.ledger().expect_content(false);
  const auto flow = world.open_flow(0, 1);
  auto& message = world.ledger().plan(flow, 10'000, 9'999);
  message.send_at = message.receive_at = Time{};
  world.run_for(1s);
  REQUIRE(world.flow(flow).receives_done == 0);
  REQUIRE(world.flow(flow).receive_error.has_value());
  REQUIRE(world.flow(flow).send_error.has_value());
  REQUIRE_THAT(world.flow(flow).receive_error->message(), Contains("10000") && Contains("9999"));
}

TEST_CASE("the same seed gives the same event hash, in every run") {
  const auto hash_of = [](std::uint64_t seed) {
    return run_random_story(seed, 60s, [](World& world, Rng& rng) {
      world.network().set_edge_faults(
          random_faults(rng, 0.1, world.endpoint(0).config().protection));
    });
  };
  std::set<std::uint64_t> hashes;
  for_each_seed(20, [&](std::uint64_t seed) {
    const auto hash = hash_of(seed);
    REQUIRE(hash == hash_of(seed));
    hashes.insert(hash);
  });
  if (std::getenv("DLCP_SEED") == nullptr) REQUIRE(hashes.size() > 1);
}
