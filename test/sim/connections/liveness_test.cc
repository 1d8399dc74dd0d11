// Which peers count as dead and which do not: peers that answer without progress, hosts that sleep,
// and the shortest timeouts that can be set.
#include "random_world.h"
#include "seeds.h"
#include "wire/data/data_header.h"

using namespace dlcp;
using namespace dlcp::test;
using namespace dlcp::datapath::sim;
using core::Counter;

namespace {

WorldConfig small_world(std::size_t hosts, std::uint64_t seed, Duration timeout) {
  WorldConfig config;
  config.network = single_switch(hosts, {.paths = 4});
  config.network.seed = config.seed = seed;
  config.core.peer_timeout = timeout;
  return config;
}

bool is_data(std::span<const std::byte> datagram) {
  return wire::decode_data(datagram).has_value();
}

}  // namespace

TEST_CASE(
    "a peer that answers without progress counts as dead, and the error names the size that did "
    "not pass") {
  World world(small_world(2, 1, 2s));
  world.ledger().allow_failures();
  const auto flow = world.open_flow(0, 1);
  world.transfer(flow, 100'000);
  world.run_for(20ms);
  REQUIRE(world.flow(flow).receives_done == 1);
  world.set_filter([](HostIndex, std::vector<std::byte>& datagram) { return !is_data(datagram); });
  const std::uint64_t asked_before = world.sum(Counter::kProbesSent);
  const Time cut = world.now();
  world.transfer(flow, 100'000);
  world.run_until(cut + 10s, [&] { return world.flow(flow).send_error.has_value(); });
  REQUIRE(world.flow(flow).send_error.has_value());
  REQUIRE(world.flow(flow).send_error->code == ErrorCode::kRemote);
  REQUIRE_THAT(
      world.flow(flow).send_error->message(),
      Contains("answers, but for 2000 ms no packet got through") && Contains("1452 bytes"));
  REQUIRE(world.now() - cut >= 2s);
  REQUIRE(world.now() - cut <= 2100ms);
  // Probes that are answered without progress back off, together with those for the packet size.
  // Without backing off there were a thousand per second.
  REQUIRE(world.sum(Counter::kProbesSent) - asked_before <= 120);
  world.finish(1s);
}

TEST_CASE("streams that wait for their turn on a slow path are not stuck") {
  WorldConfig config = small_world(2, 3, 2s);
  config.network = single_switch(2, {.link = {.rate = 1'000'000}, .paths = 4});
  World world(config);
  std::vector<std::size_t> flows;
  for (int i = 0; i < 8; ++i)
    flows.push_back(world.open_flow(0, 1));
  world.run_for(1s);
  for (const std::size_t flow : flows)
    world.transfer(flow, 200'000);
  world.finish(30s);
  for (const std::size_t flow : flows)
    REQUIRE(world.flow(flow).sends_done == 1);
}

TEST_CASE("a sender waits for a receive to be posted as long as the receiver answers") {
  World world(small_world(2, 2, 1s));
  const auto flow = world.open_flow(0, 1);
  world.transfer(flow, 1'000'000, {}, time_from_ns(20'000'000'000));
  world.finish(21s);
  REQUIRE(world.flow(flow).sends_done == 1);
}

// No probe is sent while acknowledgements arrive, and these report only the busy stream.
TEST_CASE("a sender also waits for a receive while another stream to the same peer is busy") {
  World world(small_world(2, 2, 100ms));
  const auto waiting = world.open_flow(0, 1, 1);
  const auto busy = world.open_flow(0, 1, 2);
  world.transfer(waiting, 1'000'000, {}, time_from_ns(400'000'000));
  for (int i = 0; i < 800; ++i)
    world.transfer(busy, 1'000, time_from_ns(i * 500'000));
  world.finish(1s);
  REQUIRE(world.flow(waiting).sends_done == 1);
}

TEST_CASE(
    "a sender that waits counts its peer as dead at the timeout after any stream's last frame") {
  World world(small_world(2, 2, 1s));
  world.ledger().allow_failures();
  const auto waiting = world.open_flow(0, 1, 1);
  const auto busy = world.open_flow(0, 1, 2);
  world.transfer(waiting, 1'000'000, {}, time_from_ns(60'000'000'000));
  for (int i = 0; i < 800; ++i)
    world.transfer(busy, 1'000, time_from_ns(i * 500'000));
  Time last{};
  world.set_filter([&](HostIndex to, std::vector<std::byte>&) {
    if (to == 0) last = world.now();
    return true;
  });
  world.run_for(400ms);
  world.kill(1);
  world.run_for(1ms);
  world.run_until(last + 1s - 1us);
  REQUIRE_FALSE(world.flow(waiting).send_error.has_value());
  world.run_until(last + 1s + 1us);
  REQUIRE(world.flow(waiting).send_error.has_value());
}

// The receiver of one stream closes during an outage and forgets it 30 s later, while another
// stream to the same peer goes on.
TEST_CASE(
    "a sender does not wait longer than the timeout for a stream that its peer has forgotten") {
  World world(small_world(2, 2, 40s));
  world.ledger().allow_failures();
  const auto forgotten = world.open_flow(0, 1, 1);
  const auto busy = world.open_flow(0, 1, 2);
  const auto every = GENERATE(100'000'000ll, 1'000'000ll);  // ns
  for (std::int64_t at = 0; at < 80'000'000'000; at += every)
    world.transfer(busy, 1'000, time_from_ns(at));
  world.run_for(20ms);
  world.set_filter([](HostIndex, std::vector<std::byte>& datagram) {
    return wire::decode_head(datagram)->type != wire::FrameType::kClose;
  });
  world.close_receiver(forgotten);
  world.run_for(31s);
  const Time posted = world.now();
  world.transfer(forgotten, 1'000);
  world.run_until(posted + 40s - 1us);
  REQUIRE_FALSE(world.flow(forgotten).send_error.has_value());
  world.run_until(posted + 40s + 1ms);
  REQUIRE(world.flow(forgotten).send_error.has_value());
  REQUIRE_THAT(world.flow(forgotten).send_error->message(), Contains("no longer knows"));
  REQUIRE_FALSE(world.flow(busy).send_error.has_value());
}

// The sender is probed often enough to be missed within 100 ms, and no more often because it
// answers.
TEST_CASE("a receiver waits for a send as long as the sender answers") {
  World world(small_world(2, 3, 1s));
  const auto flow = world.open_flow(0, 1);
  world.transfer(flow, 100'000, time_from_ns(20'000'000'000));
  std::int64_t pings = 0;
  world.set_filter([&](HostIndex, std::vector<std::byte>& datagram) {
    const auto head = wire::decode_head(datagram);
    pings += head && head->type == wire::FrameType::kPing;
    return true;
  });
  world.finish(21s);
  REQUIRE(world.flow(flow).receives_done == 1);
  CHECK(pings >= 20s / 70ms);
  CHECK(pings <= 20s / 60ms + 2);
}

TEST_CASE("the shortest peer timeout fails no healthy connection, whichever host is late") {
  for (const Duration timeout : {Duration(100ms), Duration(500ms), Duration(1s)}) {
    for_each_seed(
        20,
        [&](std::uint64_t seed) {
          CAPTURE(timeout.count());
          World world(small_world(2, seed, timeout));
          world.network().set_edge_faults({.drop = 0.01});
          const auto late_receive = world.open_flow(0, 1);
          const auto late_send = world.open_flow(1, 0);
          for (int k = 1; k <= 4; ++k) {
            const Time then = time_from_ns(0) + k * 3 * timeout;
            world.transfer(late_receive, 200'000, {}, then);
            world.transfer(late_send, 200'000, then);
          }
          world.finish(20 * timeout + 1s);
          REQUIRE(world.flow(late_receive).sends_done == 4);
          REQUIRE(world.flow(late_send).receives_done == 4);
        });
  }
}

TEST_CASE("hosts that sleep at the same time for ten times the timeout continue when they wake") {
  for_each_seed(
      50,
      [](std::uint64_t seed) {
        Rng rng(seed);
        World world(small_world(3, seed, 4s));
        world.network().set_edge_faults({.drop = 0.02});
        for (HostIndex i = 0; i < 3; ++i) {
          world.open_flow(i, (i + 1) % 3);
          for (int k = 0; k < 20; ++k)
            world.transfer(i, 1 + rng.below(400'000));
        }
        world.run_for(Duration(100'000 + static_cast<std::int64_t>(rng.below(5'000'000))));
        // Not at exactly the same time: one may wake up to half a second before the other.
        for (HostIndex i = 0; i < 3; ++i)
          world.freeze(i, 40s + Duration(static_cast<std::int64_t>(rng.below(500'000'000))));
        world.finish(45s);
        for (std::size_t f = 0; f < 3; ++f)
          REQUIRE(world.flow(f).receives_done == 20);
      });
}

TEST_CASE(
    "a host that alone sleeps for longer than the timeout finds its connections failed when it "
    "wakes") {
  World world(small_world(2, 7, 2s));
  world.ledger().allow_failures();
  const auto flow = world.open_flow(0, 1);
  for (int k = 0; k < 20; ++k)
    world.transfer(flow, 1'000'000);
  world.run_for(2ms);
  world.freeze(1, 5s);
  world.run_for(2200ms);
  REQUIRE(world.flow(flow).send_error.has_value());
  world.run_for(4s);
  REQUIRE(world.flow(flow).receive_error.has_value());
  REQUIRE_THAT(world.flow(flow).receive_error->message(), Contains("has not answered"));
}

TEST_CASE("a peer that died while this host slept counts as dead within the timeout after waking") {
  World world(small_world(2, 8, 2s));
  world.ledger().allow_failures();
  const auto flow = world.open_flow(0, 1);
  for (int k = 0; k < 20; ++k)
    world.transfer(flow, 1'000'000);
  world.run_for(2ms);
  world.kill(1);
  world.freeze(0, 40s);
  world.run_for(40s);
  REQUIRE_FALSE(world.flow(flow).send_error.has_value());
  world.run_for(2100ms);
  REQUIRE(world.flow(flow).send_error.has_value());
}

TEST_CASE("a killed process is detected within 100 ms if its host refuses packets for it") {
  for_each_seed(
      20,
      [](std::uint64_t seed) {
        const bool kills_sender = seed % 2 == 0;
        World world(small_world(2, seed, 30s));
        world.ledger().allow_failures();
        const auto flow = world.open_flow(0, 1);
        for (int k = 0; k < 200; ++k)
          world.transfer(flow, 1'000'000);
        const HostIndex killed = kills_sender ? 0 : 1;
        const HostIndex other = 1 - killed;
        world.run_for(Duration(2'000'000 + static_cast<std::int64_t>(seed) * 100'000));
        // The dead process's host answers packets that still arrive for it.
        world.set_filter([&](HostIndex to, std::vector<std::byte>& datagram) {
          if (to != killed) return false;
          world.endpoint(other).on_refused(world.now(), datagram);
          return false;
        });
        const Time then = world.now();
        const auto& error =
            kills_sender ? world.flow(flow).receive_error : world.flow(flow).send_error;
        world.run_until(
            then + 10s, [&] { return error.has_value(); });
        REQUIRE(error.has_value());
        REQUIRE(error->code == ErrorCode::kRemote);
        REQUIRE_THAT(error->message(), Contains("rejects packets"));
        REQUIRE(world.sum(core::Counter::kPeerTimeouts) == 1);  // on either side
        CAPTURE((world.now() - then).count());
        REQUIRE(world.now() - then <= 100ms);
      });
}

TEST_CASE(
    "a process killed before it answered HELLO, or between HELLO and START, is detected as well") {
  for (const auto killed_at : {wire::FrameType::kHello, wire::FrameType::kStart}) {
    World world(small_world(2, 5, 30s));
    world.ledger().allow_failures();
    bool dead = false;
    world.set_filter([&](HostIndex to, std::vector<std::byte>& datagram) {
      dead = dead || (to == 1 && wire::decode_head(datagram)->type == killed_at);
      if (!dead) return true;
      if (to == 1) world.endpoint(0).on_refused(world.now(), datagram);
      return false;
    });
    const auto flow = world.open_flow(0, 1);
    const auto& error = world.flow(flow).send_error;
    world.run_until(world.now() + 10s, [&] { return error.has_value(); });
    REQUIRE(error.has_value());
    REQUIRE_THAT(error->message(), Contains("rejects packets"));
    REQUIRE(world.now() < time_from_ns(400'000'000));
  }
}

TEST_CASE("a forged refusal of HELLO ends nothing, though the path takes a fifth of a second") {
  WorldConfig config = small_world(2, 6, 30s);
  for (auto& host : config.network.hosts)
    host.link.delay = 50ms;  // four links for a round trip
  World world(std::move(config));
  world.set_filter([&](HostIndex to, std::vector<std::byte>& datagram) {
    const auto head = wire::decode_head(datagram);
    if (to == 1 && head->type == wire::FrameType::kHello)
      world.endpoint(0).on_refused(world.now(), datagram);
    return true;
  });
  const auto flow = world.open_flow(0, 1);
  world.transfer(flow, 1000);
  world.finish(10s);
}

TEST_CASE("forged refusals do not affect a peer that is alive") {
  World world(small_world(2, 3, 30s));
  std::vector<std::vector<std::byte>> seen(2);
  world.set_filter([&](HostIndex to, std::vector<std::byte>& datagram) {
    seen[to] = datagram;
    return true;
  });
  const auto flow = world.open_flow(0, 1);
  const auto waiting = world.open_flow(1, 0);
  world.transfer(waiting, 1000, time_from_ns(2'000'000'000));
  for (int k = 0; k < 100; ++k)
    world.transfer(flow, 100'000, time_from_ns(k * 10'000'000));
  while (world.now() < time_from_ns(1'500'000'000)) {
    world.run_for(1ms);
    if (!seen[1].empty()) world.endpoint(0).on_refused(world.now(), seen[1]);
    if (!seen[0].empty()) world.endpoint(1).on_refused(world.now(), seen[0]);
  }
  world.finish(5s);
  REQUIRE(world.flow(flow).sends_done == 100);
}
