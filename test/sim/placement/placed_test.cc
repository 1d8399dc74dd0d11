// Messages whose packets the receiver's card places, on a simulated card and network. The ledger
// checks every write of the card: right bytes, in a buffer that is posted, and never after the
// receive is done. Late, lost, doubled and reordered packets must not matter, and neither may the
// end of a connection.
#include "placed_world.h"
#include "seeds.h"

using namespace dlcp;
using namespace dlcp::test;
using namespace dlcp::datapath::sim;
using core::Counter;

namespace {

WorldConfig placed_world(Rng& rng, std::uint64_t seed) {
  WorldConfig config = random_world(rng, seed);
  config.core.protection = wire::Protection::kHeader;
  config.core.placed_bytes_min = std::size_t{1} << rng.below(15);
  for (HostConfig& host : config.network.hosts)
    if (rng.chance(0.9)) host.card = random_card(rng);
  return config;
}

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

TEST_CASE(
    "on a clean network nothing of long messages is copied, however late their receives are") {
  World world(two_hosts({.grant_delay = 5us}));
  const auto flow = add_messages(world, 1, 1000);
  world.finish(1s);
  for (int i = 0; i < 50; ++i) {
    const Time send_at = world.now() + 100us;
    world.transfer(flow, 100'000, send_at, send_at + (i % 10) * 30us);
    world.finish(1s);
  }
  CHECK(world.sum(Counter::kBytesCopied) == 1000);
  CHECK(placed(world) == 50 * 100'000);
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

TEST_CASE("a card that does not decide about permissions does not keep long messages waiting") {
  World world(two_hosts({.grant_delay = 1000s}));
  const auto flow = add_messages(world, 1, 1000);
  world.finish(1s);
  const Time begin = world.now();
  for (int i = 0; i < 5; ++i)
    world.transfer(flow, 200'000);
  world.run_until(begin + 1s, [&] { return world.flow(flow).receives_done == 6; });
  CHECK(world.flow(flow).receives_done >= 1);
  CHECK(world.sum(Counter::kBytesReceived) == 1000 + 5 * 200'000);
  CHECK(world.now() - begin < 200ms);
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
  std::uint64_t total = 0;
  for_each_seed(200, [&](std::uint64_t seed) {
    Rng rng(seed);
    CardConfig card = random_card(rng);
    World world(two_hosts(card, seed));
    LinkFaults faults = kVeryLate;
    if (rng.chance(0.5)) faults.duplicate = 0.05;
    world.network().set_edge_faults(faults);
    add_messages(world, 20, 1 + rng.below(256 << 10));
    world.finish(60s);
    world.run_for(200ms);  // the last late packets
    total += placed(world);
  });
  CHECK(total > std::uint64_t{1} << 20);
}

TEST_CASE("messages of less than a packet are placed too, if the configuration says so") {
  std::uint64_t total = 0;
  for_each_seed(20, [&](std::uint64_t seed) {
    Rng rng(seed);
    auto config = two_hosts(random_card(rng), seed);
    config.core.placed_bytes_min = 1;
    World world(std::move(config));
    world.network().set_edge_faults({.drop = 0.02, .duplicate = 0.02, .reorder = 0.05});
    const auto flow = add_messages(world, 1, 1000);
    for (int i = 1; i <= 100; ++i)
      world.transfer(flow, 1 + rng.below(4000), time_from_ns(1'000'000) + i * 50us);
    world.finish(60s);
    total += placed(world);
  });
  CHECK(total > 100'000);
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
  std::uint64_t offered = 0;
  std::uint64_t total = 0;
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
      offered += 256 << 10;
    }
    world.finish(60s);
    world.run_for(200ms);
    short_messages += world.sum(Counter::kMessagesShort);
    total += placed(world);
  });
  CHECK(short_messages > 0);
  CHECK(total > offered / 2);
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
      CHECK((placed(world) > std::uint64_t{20} << 20) == with_card);
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
