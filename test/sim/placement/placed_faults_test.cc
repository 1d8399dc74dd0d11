// Messages that the receiver's card places, when permissions, paths, frames or peers fail.
#include "placed_world.h"
#include "seeds.h"
#include "wire/frames/control_frame.h"

using namespace dlcp;
using namespace dlcp::test;
using namespace dlcp::datapath::sim;
using core::Counter;

TEST_CASE("PERMITS that is lost is sent again with the next acknowledgement") {
  World world(two_hosts({}));
  const auto flow = add_messages(world, 1, 1000);
  world.finish(1s);
  bool dropped = false;
  world.set_filter([&](HostIndex, std::vector<std::byte>& datagram) {
    const auto head = wire::decode_head(datagram);
    if (dropped || !head || head->type != wire::FrameType::kPermits) return true;
    dropped = true;
    return false;
  });
  world.transfer(flow, 512 << 10, world.now() + 1ms);
  world.finish(1s);
  CHECK(dropped);
  CHECK(placed(world) > 0);
}

TEST_CASE("PERMITS is not repeated on the path on which it was lost") {
  World world(two_hosts({}));
  const auto flow = add_messages(world, 1, 1000);
  world.finish(1s);
  std::optional<std::uint8_t> dead;
  world.set_filter([&](HostIndex to, std::vector<std::byte>& datagram) {
    const auto head = wire::decode_head(datagram);
    if (to != 0 || !head) return true;
    if (!dead && head->type == wire::FrameType::kPermits) dead = head->flags;
    return head->flags != dead;
  });
  const Time begin = world.now();
  const Message& message = world.transfer(flow, 512 << 10, begin);
  world.finish(1s);
  CHECK(dead);
  CHECK(placed(world) > std::size_t{256} << 10);
  CHECK(message.done_at - begin < 600us);
}

TEST_CASE("a message whose permissions were lost twice asks early, and gets them") {
  World world(two_hosts({}));
  const auto flow = add_messages(world, 1, 1000);
  world.finish(1s);
  const Time begin = world.now();
  world.set_filter(
      [&](HostIndex to, std::vector<std::byte>&) { return to != 0 || world.now() - begin > 80us; });
  const Message& message = world.transfer(flow, 512 << 10, begin);
  world.finish(1s);
  CHECK(placed(world) > std::size_t{256} << 10);
  CHECK(message.done_at - begin < 600us);
}

TEST_CASE("a queue pair that several paths share is not used while its packets are lost") {
  auto config = two_hosts({.paths_max = 2});
  for (HostConfig& host : config.network.hosts)
    host.paths = 16;
  World world(std::move(config));
  const auto flow = add_messages(world, 1, 1000);
  world.finish(1s);
  world.network().host(0).card()->config().black_holes = 1;
  for (int i = 0; i < 100; ++i)
    world.transfer(flow, 512 << 10);
  world.finish(10s);
  CHECK(placed(world) > std::uint64_t{20} << 20);
  CHECK(world.sum(Counter::kPacketsRetransmitted) < world.sum(Counter::kPacketsSent) / 50);
}

TEST_CASE("if no path of the card works any more, messages travel in ordinary packets at once") {
  World world(two_hosts({}));
  const auto flow = add_messages(world, 1, 1000);
  world.finish(1s);
  world.network().host(0).card()->config().paths_max = 0;
  for (int i = 0; i < 10; ++i)
    world.transfer(flow, 512 << 10);
  world.finish(10s);
  CHECK(placed(world) == 0);
  CHECK(world.sum(Counter::kPacketsRetransmitted) == 0);
  world.network().host(0).card()->config().paths_max = 8;
  for (int i = 0; i < 10; ++i)
    world.transfer(flow, 512 << 10);
  world.finish(10s);
  CHECK(placed(world) > 0);
}

TEST_CASE("permissions that were refused do not keep later ones from being used") {
  World world(two_hosts({}));
  const auto flow = add_messages(world, 1, 1000);
  world.finish(1s);
  const auto transfer = [&](int count) {
    for (int i = 0; i < count; ++i)
      world.transfer(flow, 64 << 10, world.now() + 1ms + i * 100us);
    world.finish(1s);
  };
  transfer(10);
  const std::uint64_t before = placed(world);
  CHECK(before == 10 * (64 << 10));
  world.network().host(1).card()->config().refused = 1;
  transfer(150);
  CHECK(placed(world) == before);
  world.network().host(1).card()->config().refused = 0;
  transfer(10);
  CHECK(placed(world) == 2 * before);
}

TEST_CASE("LINK and PERMITS may be late, lost and out of order") {
  std::uint64_t total = 0;
  for_each_seed(50, [&](std::uint64_t seed) {
    Rng rng(seed);
    World world(two_hosts(random_card(rng), seed));
    std::vector<std::pair<HostIndex, std::vector<std::byte>>> held;
    world.set_filter([&](HostIndex to, std::vector<std::byte>& datagram) {
      const auto head = wire::decode_head(datagram);
      const bool prepares =
          head && (head->type == wire::FrameType::kPermits || head->type == wire::FrameType::kLink);
      if (!prepares || rng.chance(0.5)) return true;
      held.emplace_back(to, datagram);
      return false;
    });
    const auto flow = add_messages(world, 1, 1000);
    for (int i = 0; i < 50; ++i)
      world.transfer(flow, 64 << 10, time_from_ns(1'000'000) + i * 100us);
    for (int i = 0; i < 60; ++i) {
      world.run_for(100us);
      while (!held.empty() && rng.chance(0.8)) {
        std::swap(held[rng.below(held.size())], held.back());
        const auto [to, datagram] = std::move(held.back());
        held.pop_back();
        if (rng.chance(0.8)) world.deliver(to, datagram);
      }
    }
    world.finish(60s);
    total += placed(world);
  });
  CHECK(total > 0);
}

TEST_CASE("a receive whose memory another user deregisters is completed by ordinary packets") {
  for_each_seed(
      50,
      [](std::uint64_t seed) {
        Rng rng(seed);
        World world(two_hosts(random_card(rng), seed));
        world.network().set_edge_faults(kVeryLate);
        const auto flow = add_messages(world, 20, 256 << 10);
        for (int i = 0; i < 20; ++i) {
          world.run_for(Duration(static_cast<std::int64_t>(rng.below(300'000))));
          Message& message = world.flow(flow).messages[rng.below(20)];
          if (message.receive_posted && !message.receive_done)
            world.network().host(1).release_memory(message.buffer);
        }
        world.finish(60s);
        world.run_for(200ms);
      });
}

TEST_CASE("the death of a peer ends the permissions that it had") {
  for_each_seed(
      20,
      [](std::uint64_t seed) {
        Rng rng(seed);
        auto config = two_hosts(random_card(rng), seed);
        config.core.peer_timeout = 2s;
        World world(std::move(config));
        world.ledger().allow_failures();
        world.network().set_edge_faults(kVeryLate);
        const auto flow = add_messages(world, 30, 256 << 10);
        REQUIRE(world.run_until(
            world.now() + 10s, [&] { return world.flow(flow).receives_done > 0; }));
        world.run_for(Duration(static_cast<std::int64_t>(rng.below(1'000'000))));
        const HostIndex killed = seed % 2;
        world.kill(killed);
        world.run_for(4s);
        CHECK((killed == 0 ? world.flow(flow).receive_error : world.flow(flow).send_error));
        if (killed == 0) CHECK(world.network().host(1).card()->permissions() == 0);
      });
}

TEST_CASE("closing a connection revokes the permissions of its receives") {
  for_each_seed(
      200,
      [](std::uint64_t seed) {
        Rng rng(seed);
        World world(two_hosts(random_card(rng), seed));
        world.ledger().allow_failures();
        LinkFaults faults = kVeryLate;
        faults.duplicate = 0.05;
        world.network().set_edge_faults(faults);
        const auto flow = add_messages(world, 30, 256 << 10);
        const auto other = add_messages(world, 10, 100'000, 2);
        world.run_for(Duration(static_cast<std::int64_t>(rng.below(3'000'000))));
        rng.chance(0.5) ? world.close_receiver(flow) : world.close_sender(flow);
        world.run_for(300ms);
        CHECK(world.network().host(1).card()->permissions() == 0);
        CHECK(world.flow(other).receives_done == 10);
      });
}

TEST_CASE(
    "a connection that is closed leaves no permission behind, even if its memory stays "
    "registered") {
  World world(two_hosts({}));
  world.ledger().allow_failures();
  const auto flow = world.open_flow(0, 1);
  for (int i = 0; i < 8; ++i)
    world.transfer(flow, 256 << 10, time_from_ns(1'000'000'000));
  const auto keep = world.open_flow(0, 1);
  world.transfer(keep, 1000, time_from_ns(1'000'000'000));
  world.run_until(time_from_ns(10'000'000));
  SimPlacer& card = *world.network().host(1).card();
  REQUIRE(card.permissions() == 8);
  world.endpoint(1).close(world.now(), *world.flow(flow).receive_connection);
  CHECK(card.permissions() == 8);
  world.run_for(1ms);
  CHECK(card.permissions() == 0);
}
