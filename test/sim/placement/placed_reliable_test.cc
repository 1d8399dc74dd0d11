// Placed messages over reliable queue pairs (RC): the card repeats lost packets, and the core sends
// one again only after its path has failed. A dead key ends a path, so none may be used any more
// when its permission ends.
#include "placed_world.h"
#include "seeds.h"

using namespace dlcp;
using namespace dlcp::test;
using namespace dlcp::datapath::sim;
using core::Counter;

namespace {

WorldConfig reliable_hosts(CardConfig card, std::uint64_t seed = 1) {
  card.is_reliable = true;
  return two_hosts(card, seed);
}

struct Sum {
  std::uint64_t failed = 0, dead_keys = 0, repeats = 0;
};
Sum sum(World& world) {
  Sum sum;
  for (HostIndex host = 0; host < world.network().host_count(); ++host) {
    const SimPlacer* card = world.network().host(host).card();
    if (card == nullptr) continue;
    sum.failed += card->counters().paths_failed;
    sum.dead_keys += card->counters().dead_keys;
    sum.repeats += card->reliable().repeats();
  }
  return sum;
}

}  // namespace

TEST_CASE("over RC and a clean network the card places everything after the first permission") {
  World world(reliable_hosts({}));
  const auto flow = add_messages(world, 1, 1000);
  world.finish(1s);
  for (int i = 0; i < 50; ++i)
    world.transfer(flow, 512 << 10, world.now() + 1ms);
  world.finish(1s);
  CHECK(placed(world) == 50 * (512 << 10));
  CHECK(world.sum(Counter::kPacketsRetransmitted) == 0);
  CHECK(world.sum(Counter::kDuplicates) == 0);
  CHECK(sum(world).failed == 0);
  CHECK(sum(world).repeats == 0);
}

TEST_CASE("over RC packets that the network loses are repeated by the card only") {
  World world(reliable_hosts({}));
  const auto flow = add_messages(world, 1, 1000);
  world.finish(1s);
  world.network().set_faults({.drop = 0.01});
  for (int i = 0; i < 100; ++i)
    world.transfer(flow, 512 << 10);
  world.finish(60s);
  INFO(world.sum(Counter::kPacketsRetransmitted)
       << " of " << world.sum(Counter::kPacketsSent) << " packets sent again, "
       << world.sum(Counter::kSpuriousRetransmissions) << " without need");
  CHECK(placed(world) > std::uint64_t{20} << 20);
  CHECK(sum(world).repeats > 50);
  CHECK(sum(world).failed == 0);
  CHECK(sum(world).dead_keys == 0);
  CHECK(world.sum(Counter::kDuplicates) == 0);
  const std::uint64_t ordinary = world.sum(Counter::kBytesCopied) / 4000;
  CHECK(world.sum(Counter::kPacketsRetransmitted) < ordinary / 20);
}

TEST_CASE(
    "over RC the card repeats nothing on a long path, and places nothing on one too long for it") {
  const bool is_too_long = GENERATE(false, true);
  auto config = reliable_hosts({});
  for (HostConfig& host : config.network.hosts)
    host.link = {.rate = 10'000'000'000, .delay = is_too_long ? 20ms : 3ms};  // four in an RTT
  World world(std::move(config));
  const auto flow = add_messages(world, 1, 1000);
  world.finish(10s);
  for (int i = 0; i < 20; ++i)
    world.transfer(flow, 512 << 10);
  world.finish(10s);
  CHECK((is_too_long ? placed(world) == 0 : placed(world) > 10 * (512 << 10)));
  CHECK(sum(world).repeats == 0);
  CHECK(sum(world).failed == 0);
}

TEST_CASE("every message placed over RC arrives over random networks") {
  std::uint64_t total = 0;
  std::uint64_t failed = 0;
  for_each_seed(500, [&](std::uint64_t seed) {
    Rng rng(seed);
    WorldConfig config = random_world(rng, seed);
    config.core.protection = wire::Protection::kHeader;
    config.core.placed_bytes_min = std::size_t{1} << rng.below(15);
    const bool is_hasty = rng.chance(0.3);
    for (HostConfig& host : config.network.hosts) {
      host.card = random_card(rng);
      host.card->is_reliable = true;
      if (is_hasty) host.card->repeat_after = 200us;  // paths fail
    }
    World world(std::move(config));
    world.network().set_edge_faults(random_faults(rng, 0.2, wire::Protection::kHeader));
    add_random_traffic(world, rng);
    world.finish(120s);
    total += placed(world);
    failed += sum(world).failed;
  });
  CHECK(total > 0);
  CHECK(failed > 0);
}

TEST_CASE("every message placed over RC arrives although packets are 100 ms late and doubled") {
  std::uint64_t total = 0;
  for_each_seed(100, [&](std::uint64_t seed) {
    Rng rng(seed);
    CardConfig card = random_card(rng);
    if (rng.chance(0.5)) card.repeat_after = 1ms;
    World world(reliable_hosts(card, seed));
    LinkFaults faults = kVeryLate;
    if (rng.chance(0.5)) faults.duplicate = 0.05;
    world.network().set_edge_faults(faults);
    const auto flow = add_messages(world, 20, 1 + rng.below(256 << 10));
    world.finish(60s);
    for (int i = 0; i < 20; ++i)
      world.transfer(flow, 1 + rng.below(256 << 10));
    world.finish(60s);
    world.run_for(200ms);  // the last late packets
    total += placed(world);
  });
  CHECK(total > std::uint64_t{1} << 20);
}

TEST_CASE("packets of a path that fails travel in ordinary packets, and the path is used again") {
  World world(reliable_hosts({.repeat_after = 2ms}));
  const auto flow = add_messages(world, 1, 1000);
  world.finish(1s);
  SimPlacer& card = *world.network().host(0).card();
  card.config().black_holes = 1;
  for (int i = 0; i < 20; ++i)
    world.transfer(flow, 512 << 10);
  world.finish(10s);
  CHECK(sum(world).failed > 0);
  CHECK(sum(world).dead_keys == 0);
  CHECK(world.sum(Counter::kPacketsRetransmitted) > 0);
  const std::uint64_t before = placed(world);
  card.config().black_holes = 0;
  world.run_for(5s);
  for (int i = 0; i < 20; ++i)
    world.transfer(flow, 512 << 10, world.now() + 1ms);
  world.finish(10s);
  CHECK(placed(world) - before == 20 * (512 << 10));
}

TEST_CASE("the death of a peer is noticed as early over RC as without a card") {
  for (const bool by_card : {false, true}) {
    auto config = reliable_hosts({});
    if (!by_card)
      for (HostConfig& host : config.network.hosts)
        host.card.reset();
    config.core.peer_timeout = 2s;
    World world(std::move(config));
    world.ledger().allow_failures();
    const auto flow = add_messages(world, 200, 256 << 10);
    REQUIRE(
        world.run_until(world.now() + 10s, [&] { return world.flow(flow).receives_done > 20; }));
    const Time killed = world.now();
    world.kill(1);
    // Its card still acknowledges packets, but nothing else of it answers.
    REQUIRE(world.run_until(world.now() + 10s,
                            [&] { return world.flow(flow).send_error.has_value(); }));
    INFO("by card: " << by_card << ", " << (world.now() - killed).count() << " ns");
    CHECK(world.now() - killed < 2200ms);
  }
}

TEST_CASE("a closed connection whose packets are in flight does not harm others over RC") {
  std::uint64_t dead_keys = 0;
  for_each_seed(100, [&](std::uint64_t seed) {
    Rng rng(seed);
    World world(reliable_hosts(random_card(rng), seed));
    world.ledger().allow_failures();
    if (rng.chance(0.5)) world.network().set_edge_faults({.drop = 0.01, .reorder = 0.05});
    const auto flow = add_messages(world, 30, 256 << 10);
    const auto other = add_messages(world, 30, 200'000, 2);
    world.run_for(Duration(static_cast<std::int64_t>(rng.below(3'000'000))));
    rng.chance(0.5) ? world.close_receiver(flow) : world.close_sender(flow);
    world.run_for(5s);
    CHECK(world.flow(other).receives_done == 30);
    dead_keys += sum(world).dead_keys;
  });
  CHECK(dead_keys > 0);
}

TEST_CASE("messages that may lose data travel in ordinary packets over RC") {
  World world(reliable_hosts({}));
  world.network().set_edge_faults({.drop = 0.01});
  const auto flow = world.open_flow(0, 1);
  for (std::uint64_t collective = 1; collective <= 20; ++collective) {
    Message& message = world.transfer(flow, 256 << 10);
    message.send_licence = message.receive_licence = {
        collective, 1 << 20, 4, 4, 0, 50'000, gradient::ElementType::kFloat32};
  }
  world.finish(60s);
  CHECK(placed(world) == 0);
  CHECK(world.sum(Counter::kMessagesShort) > 0);
}
