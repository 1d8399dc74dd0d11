// How connections end: closes that do not wait for the peer, peers that die without a message, and
// failures that reach every host concerned.
#include "random_world.h"
#include "seeds.h"

using namespace dlcp;
using namespace dlcp::test;
using namespace dlcp::datapath::sim;

namespace {

WorldConfig small_world(std::size_t hosts, std::uint64_t seed) {
  WorldConfig config;
  config.network = single_switch(hosts, {.paths = 4});
  config.network.seed = config.seed = seed;
  return config;
}

}  // namespace

TEST_CASE("a close right after completion never fails the sender, at 20 % loss") {
  for_each_seed(
      10'000,
      [](std::uint64_t seed) {
        World world(small_world(2, seed));
        world.network().set_edge_faults({.drop = 0.2});
        const auto flow = world.open_flow(0, 1);
        world.flow(flow).close_when_done = true;
        Rng rng(seed);
        const std::size_t messages = 1 + rng.below(3);
        for (std::size_t k = 0; k < messages; ++k)
          world.transfer(flow, rng.below(3000));
        world.finish(60s);
        REQUIRE(world.flow(flow).sends_done == messages);
      });
}

TEST_CASE("closes are confirmed soon if the network is clean") {
  World world(small_world(2, 1));
  const auto flow = world.open_flow(0, 1);
  world.flow(flow).close_when_done = true;
  world.transfer(flow, 100'000);
  world.finish(5s);
  REQUIRE_FALSE(world.endpoint(0).has_unconfirmed_closes());
  REQUIRE_FALSE(world.endpoint(1).has_unconfirmed_closes());
}

TEST_CASE(
    "a close with requests outstanding fails the peer, and their memory is not accessed again") {
  for_each_seed(
      200,
      [](std::uint64_t seed) {
        World world(small_world(2, seed));
        world.ledger().allow_failures();
        world.network().set_edge_faults({.drop = 0.1});
        const auto flow = world.open_flow(0, 1);
        for (int k = 0; k < 4; ++k)
          world.transfer(flow, 400'000);
        const bool sender = seed % 2 == 0;
        const bool begun = world.run_until(
            time_from_ns(10'000'000'000), [&] { return world.ledger().placed_bytes(1) > 10'000; });
        REQUIRE(begun);
        sender ? world.close_sender(flow) : world.close_receiver(flow);
        world.finish(5s);
        const auto& error = sender ? world.flow(flow).receive_error : world.flow(flow).send_error;
        REQUIRE(error.has_value());
        REQUIRE(error->code == ErrorCode::kRemote);
      });
}

TEST_CASE("a receiver that leaves closes in order although receives are posted") {
  World world(small_world(2, 1));
  const auto flow = world.open_flow(0, 1);
  world.transfer(flow, 5'000);
  world.transfer(flow, 5'000, time_from_ns(1'000'000'000'000));
  world.run_for(100ms);
  REQUIRE(world.flow(flow).receives_done == 1);
  CHECK_FALSE(world.endpoint(0).peer_has_closed(world.flow(flow).send_connection));
  world.endpoint(1).leave(*world.flow(flow).receive_connection);
  world.close_receiver(flow);
  world.run_for(100ms);
  CHECK_FALSE(world.flow(flow).send_error.has_value());
  CHECK(world.endpoint(0).peer_has_closed(world.flow(flow).send_connection));
}

TEST_CASE("a peer that dies without a message counts as dead within the peer timeout") {
  for_each_seed(
      50,
      [](std::uint64_t seed) {
        auto config = small_world(2, seed);
        config.core.peer_timeout = 2s;
        World world(std::move(config));
        world.ledger().allow_failures();
        const auto flow = world.open_flow(0, 1);
        const auto reverse = world.open_flow(1, 0);  // host 0 waits for data that never arrives
        for (int k = 0; k < 8; ++k) {
          world.transfer(flow, 300'000);
          world.transfer(reverse, 300'000);
        }
        world.run_for(Duration(300'000 + static_cast<std::int64_t>(seed) * 20'000));
        world.kill(1);
        const Time died = world.now();
        world.run_until(
            died + 10s, [&] { return world.flow(flow).send_error.has_value(); });
        REQUIRE(world.flow(flow).send_error.has_value());
        REQUIRE(world.flow(flow).send_error->code == ErrorCode::kRemote);
        world.run_until(
            died + 10s, [&] { return world.flow(reverse).receive_error.has_value(); });
        REQUIRE(world.flow(reverse).receive_error.has_value());
        const Duration took = world.now() - died;
        CAPTURE(took.count());
        REQUIRE(took <= 2200ms);
        REQUIRE(took >= 1s);
      });
}

TEST_CASE("a receiver whose sender dies while it waits notices without sending data itself") {
  auto config = small_world(2, 5);
  config.core.peer_timeout = 2s;
  World world(std::move(config));
  world.ledger().allow_failures();
  const auto flow = world.open_flow(0, 1);
  world.transfer(flow, 5'000);
  world.transfer(flow, 5'000, time_from_ns(1'000'000'000'000));
  world.run_for(100ms);
  REQUIRE(world.flow(flow).receives_done == 1);
  world.kill(0);
  world.run_for(2500ms);
  REQUIRE(world.flow(flow).receive_error.has_value());
  REQUIRE(world.flow(flow).receive_error->code == ErrorCode::kRemote);
}

TEST_CASE("a connect to a dead host fails within the peer timeout") {
  auto config = small_world(2, 6);
  config.core.peer_timeout = 2s;
  World world(std::move(config));
  world.ledger().allow_failures();
  world.kill(1);
  const auto flow = world.open_flow(0, 1);
  world.transfer(flow, 100);
  world.run_for(2200ms);
  REQUIRE(world.flow(flow).send_error.has_value());
  REQUIRE(world.flow(flow).send_error->code == ErrorCode::kRemote);
}

TEST_CASE("a failed context reaches every host of the ring, also those that are not neighbours") {
  for_each_seed(
      50,
      [](std::uint64_t seed) {
        World world(small_world(5, seed));
        world.ledger().allow_failures();
        world.network().set_edge_faults({.drop = 0.05});
        for (HostIndex i = 0; i < 5; ++i)
          world.open_flow(i, (i + 1) % 5);
        const auto bystander = world.open_flow(2, 4, 77);  // of another context
        for (std::size_t f = 0; f < 5; ++f) {
          world.transfer(f, 200'000);
          for (int k = 0; k < 3; ++k)
            world.transfer(f, 200'000, time_from_ns(4'000'000'000));
        }
        world.transfer(bystander, 100'000, time_from_ns(5'000'000'000));
        const bool begun = world.run_until(
            world.now() + 2s,
            [&] {
              for (std::size_t f = 0; f < 5; ++f)
                if (world.flow(f).receives_done == 0) return false;
              return world.flow(bystander).receive_connection.has_value();
            });
        REQUIRE(begun);
        world.endpoint(0).fail_context(world.now(), 1,
                                       {ErrorCode::kRemote, "the GPU is on fire", ""});
        world.run_for(2s);
        for (std::size_t f = 0; f < 5; ++f) {
          CAPTURE(f);
          REQUIRE(world.flow(f).send_error.has_value());
          REQUIRE(world.flow(f).receive_error.has_value());
          REQUIRE_THAT(world.flow(f).receive_error->message(), Contains("the GPU is on fire"));
        }
        world.finish(10s);
        REQUIRE(world.flow(bystander).receives_done == 1);
      });
}
