// Outages of the fabric that the transport has to live through, and how much it still carries.
#include "random_world.h"
#include "seeds.h"

using namespace dlcp;
using namespace dlcp::test;
using namespace dlcp::datapath::sim;

TEST_CASE("a flap of every link for two seconds is survived without an error") {
  for_each_seed(20, [](std::uint64_t seed) {
    WorldConfig config;
    config.network = single_switch(2, {});
    config.network.seed = config.seed = seed;
    World world(std::move(config));
    const auto flow = world.open_flow(0, 1);
    const auto back = world.open_flow(1, 0);
    for (int k = 0; k < 20; ++k) {
      world.transfer(flow, 100'000);
      world.transfer(back, 50'000);
    }
    const Time down = time_from_ns(200'000 + static_cast<std::int64_t>(seed) * 50'000);
    world.network().add_outage(down, down + 2s);
    world.finish(6s);
    REQUIRE(world.now() >= down + 2s);
  });
}

TEST_CASE("a network that is down when the connection is made delays it and no more") {
  WorldConfig config;
  config.network = single_switch(2, {});
  World world(std::move(config));
  world.network().add_outage(time_from_ns(0), time_from_ns(5'000'000'000));
  const auto flow = world.open_flow(0, 1);
  world.transfer(flow, 10'000);
  world.finish(8s);
}

TEST_CASE("a spine that dies in the middle of a transfer is left within a few round trips") {
  for_each_seed(10, [](std::uint64_t seed) {
    WorldConfig config;
    config.network = leaf_spine(2, 2, 1, {}, {});
    config.network.seed = config.seed = seed;
    World world(std::move(config));
    const auto flow = world.open_flow(0, 1);
    for (int k = 0; k < 20; ++k)
      world.transfer(flow, 1 << 20);
    world.run_for(3ms);
    world.network().add_spine_outage(0, world.now(), kNever);
    const Time died = world.now();
    const auto before = world.ledger().placed_bytes(1);
    world.run_for(20ms);
    const auto placed = world.ledger().placed_bytes(1) - before;
    // 10 Gbit/s would be 23 MB of payload; the outage must not cost more than half of 20 ms.
    const auto total = (20u << 20) - before;
    CAPTURE(placed, total, died.time_since_epoch().count());
    REQUIRE(placed >= std::min<std::uint64_t>(total, 11'000'000));
    world.finish(20s);
    REQUIRE(world.sum(core::Counter::kPathsAvoided) > 0);
  });
}
