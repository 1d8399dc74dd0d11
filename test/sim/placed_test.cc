// Messages whose packets the receiver's card places, on a simulated card and network. The ledger
// checks every write of the card: right bytes, in a buffer that is posted, and never after the
// receive is done. Late, lost, doubled and reordered packets must not matter, and neither may the
// end of a connection.
#include "random_world.h"
#include "seeds.h"
#include "wire/control_frame.h"

using namespace dlcp;
using namespace dlcp::test;
using namespace dlcp::datapath::sim;
using core::Counter;

namespace {

CardConfig random_card(Rng& rng) {
  CardConfig card;
  card.grant_delay = Duration(static_cast<std::int64_t>(rng.below(5'000)));
  card.revoke_delay =
      Duration(static_cast<std::int64_t>(rng.below(rng.chance(0.3) ? 300'000 : 5'000)));
  if (rng.chance(0.5)) card.write_time_max = 50us;
  if (rng.chance(0.2)) card.refused = 0.3;
  if (rng.chance(0.2)) card.receives_per_path = 8;
  return card;
}

WorldConfig placed_world(Rng& rng, std::uint64_t seed) {
  WorldConfig config = random_world(rng, seed);
  config.core.protection = wire::Protection::kHeader;
  config.core.placed_bytes_min = std::size_t{1} << rng.below(15);
  for (HostConfig& host : config.network.hosts)
    if (rng.chance(0.9)) host.card = random_card(rng);
  return config;
}

std::uint64_t placed(World& world) {
  std::uint64_t total = 0;
  for (HostIndex host = 0; host < world.network().host_count(); ++host)
    if (const SimPlacer* card = world.network().host(host).card())
      total += card->counters().bytes_placed;
  return total;
}

// Two hosts with cards, and messages of `bytes` from the first to the second.
WorldConfig two_hosts(const CardConfig& card, std::uint64_t seed = 1) {
  HostConfig host;
  host.mtu = 4200;
  host.card = card;
  WorldConfig config;
  config.network = single_switch(2, host);
  config.network.seed = config.seed = seed;
  return config;
}

std::size_t add_messages(World& world, std::size_t count, std::size_t bytes,
                         core::ContextId context = 1) {
  const std::size_t flow = world.open_flow(0, 1, context);
  for (std::size_t i = 0; i < count; ++i)
    world.transfer(flow, bytes);
  return flow;
}

// 5% of the packets are late by up to 100 ms.
constexpr LinkFaults kVeryLate{.drop = 0.01, .reorder = 0.05, .reorder_delay = 100ms};

}  // namespace

TEST_CASE("on a clean network the card places everything but what precedes the first permission") {
  World world(two_hosts({}));
  const auto flow = add_messages(world, 1, 1000);
  world.finish(1s);
  for (int i = 0; i < 50; ++i)
    world.transfer(flow, 512 << 10, world.now() + 1ms);
  world.finish(1s);
  CHECK(placed(world) == 50 * (512 << 10));
  CHECK(world.sum(Counter::kPacketsRetransmitted) == 0);
  CHECK(world.sum(Counter::kDuplicates) == 0);
}

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

TEST_CASE("a message that arrives before its sender has a permission does not wait for its end") {
  World world(two_hosts({.grant_delay = 1ms, .revoke_delay = 10ms}));
  const auto flow = add_messages(world, 1, 1000);
  world.finish(1s);
  const Time begin = world.now();
  world.transfer(flow, 4000);
  world.finish(1s);
  CHECK(world.ledger().last_done_at() - begin < 1ms);
}

TEST_CASE("every placed message arrives over random networks") {
  std::uint64_t total = 0;
  for_each_seed(1000, [&](std::uint64_t seed) {
    Rng rng(seed);
    World world(placed_world(rng, seed));
    world.network().set_edge_faults(random_faults(rng, 0.2, wire::Protection::kHeader));
    add_random_traffic(world, rng);
    world.finish(60s);
    total += placed(world);
  });
  CHECK(total > 0);
}

TEST_CASE("every placed message arrives although packets are 100 ms late, doubled and lost") {
  for_each_seed(
      200,
      [](std::uint64_t seed) {
        Rng rng(seed);
        CardConfig card = random_card(rng);
        World world(two_hosts(card, seed));
        LinkFaults faults = kVeryLate;
        if (rng.chance(0.5)) faults.duplicate = 0.05;
        world.network().set_edge_faults(faults);
        add_messages(world, 20, 1 + rng.below(256 << 10));
        world.finish(60s);
        world.run_for(200ms);  // the last late packets
      });
}

// Runs messages over such a card and a network with late and doubled packets; returns the number
// of seeds whose run the checker stops.
std::size_t violations_with(const CardConfig& card) {
  std::size_t found = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    World world(two_hosts(card, seed));
    LinkFaults faults = kVeryLate;
    faults.duplicate = 0.05;
    world.network().set_edge_faults(faults);
    const auto flow = add_messages(world, 50, 64 << 10);
    try {
      world.finish(60s);
      for (int i = 0; i < 50; ++i)
        world.transfer(flow, 64 << 10);
      world.finish(60s);
      world.run_for(200ms);
    } catch (const Violation&) {
      ++found;
    }
  }
  return found;
}

TEST_CASE("the checker finds a card that breaks one of the rules") {
  CHECK(violations_with({.write_time_max = 50us}) == 0);
  // As with the windows of Soft-RoCE: the end of a permission does not wait for a write in
  // progress.
  CHECK(violations_with({.write_time_max = 50us, .revoking_waits = false}) > 0);
  // Receives are completed before the permission has ended.
  CHECK(violations_with({.key_outlives = 1ms}) > 0);
}

TEST_CASE("licensed messages are completed with holes only after revocation, within their budget") {
  std::uint64_t short_messages = 0;
  for_each_seed(100, [&](std::uint64_t seed) {
    Rng rng(seed);
    World world(two_hosts(random_card(rng), seed));
    LinkFaults faults = kVeryLate;
    faults.duplicate = 0.02;
    world.network().set_edge_faults(faults);
    const auto flow = world.open_flow(0, 1);
    for (std::uint64_t collective = 1; collective <= 20; ++collective) {
      Message& message = world.transfer(flow, 256 << 10);
      message.send_licence = message.receive_licence = {
          collective, 1 << 20, 4, 4, 0, 50'000, gradient::ElementType::kFloat32};
    }
    world.finish(60s);
    world.run_for(200ms);
    short_messages += world.sum(Counter::kMessagesShort);
  });
  CHECK(short_messages > 0);
}

TEST_CASE("placed messages take as long as copied ones, with and without loss") {
  for (const double drop : {0.0, 0.01, 0.05}) {
    std::vector<Duration> took;
    for (const bool with_card : {false, true}) {
      auto config = two_hosts({});
      for (HostConfig& host : config.network.hosts)
        if (!with_card) host.card.reset();
      World world(std::move(config));
      const auto flow = add_messages(world, 1, 1000);
      world.finish(1s);
      world.network().set_faults({.drop = drop});
      const Time begin = world.now();
      for (int i = 0; i < 100; ++i)
        world.transfer(flow, 512 << 10);
      world.finish(60s);
      took.push_back(world.ledger().last_done_at() - begin);
    }
    INFO("loss " << drop << ": copied " << took[0].count() << " ns, placed " << took[1].count());
    CHECK(took[1] < took[0] * 11 / 10);
  }
}

TEST_CASE("messages of several segments, and longer than their permissions, arrive") {
  for_each_seed(
      4,
      [](std::uint64_t seed) {
        auto config = two_hosts({}, seed);
        for (HostConfig& host : config.network.hosts)
          host.mtu = 1280;
        World world(std::move(config));
        world.network().set_edge_faults({.drop = 0.02, .duplicate = 0.01, .reorder = 0.05});
        const auto flow = add_messages(world, 3, 1000);
        world.transfer(flow, (std::size_t{3} << 20) + 1, Time{}, Time{}, 1 << 20);
        world.transfer(flow, std::size_t{1} << 20);
        world.finish(60s);
        CHECK(placed(world) > std::size_t{3} << 20);
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
