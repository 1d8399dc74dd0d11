// PING of receivers that wait: one clock for all streams of an association, which also repairs
// reports that the sender has lost and finds streams that it no longer knows.
#include <algorithm>
#include <vector>

#include "random_world.h"
#include "seeds.h"
#include "wire/frames/control_frame.h"

using namespace dlcp;
using namespace dlcp::test;
using namespace dlcp::datapath::sim;
using core::Counter;

namespace {

using Datagram = std::vector<std::byte>;

constexpr Time kMuchLater = time_from_ns(1'000'000'000'000);

WorldConfig two_hosts(Duration timeout) {
  WorldConfig config;
  config.network = single_switch(2, {.paths = 4});
  config.core.peer_timeout = timeout;
  return config;
}

bool is(const Datagram& datagram, wire::FrameType type) {
  const auto head = wire::decode_head(datagram);
  return head && head->type == type;
}

// Streams from host 0 to host 1, each in a context of its own, that have each carried a message and
// then wait for one that is not sent.
std::vector<std::size_t> open_waiting(World& world, std::size_t count) {
  std::vector<std::size_t> flows;
  for (std::size_t i = 0; i < count; ++i) {
    flows.push_back(world.open_flow(0, 1, i + 1));
    world.transfer(flows.back(), 1000);
    world.transfer(flows.back(), 1000, kMuchLater);
  }
  REQUIRE(world.run_until(world.now() + 2s, [&] {
    return std::ranges::all_of(flows, [&](std::size_t flow) {
      return world.flow(flow).sends_done == 1 && world.flow(flow).receives_posted == 2;
    });
  }));
  return flows;
}

}  // namespace

TEST_CASE("64 silent streams of an association send PING as often as one, in two frames") {
  for (const std::size_t streams : {1u, 64u}) {
    World world(two_hosts(30s));
    open_waiting(world, streams);
    world.run_for(200ms);
    std::size_t pings = 0;
    std::size_t packets = 0;
    std::size_t bytes = 0;
    world.set_filter([&](HostIndex, Datagram& datagram) {
      pings += is(datagram, wire::FrameType::kPing) ? 1 : 0;
      ++packets;
      bytes += datagram.size();
      return true;
    });
    world.run_for(60s);
    const std::size_t frames = streams > 38 ? 2 : 1;  // of 548 bytes
    CHECK(pings >= 990 * frames);
    CHECK(pings <= 1001 * frames);
    CHECK(packets <= 2 * pings + 1);  // with PONG
    CHECK(bytes <= packets * (50 + 7 * streams));
  }
}

TEST_CASE("PING of 200 streams fits a path that carries small packets only") {
  WorldConfig config = two_hosts(2s);
  for (auto& host : config.network.hosts)
    host.link.mtu = 576;
  World world(std::move(config));
  open_waiting(world, 200);
  world.run_for(10s);
  CHECK(world.sum(Counter::kPeerTimeouts) == 0);
  CHECK(world.sum(Counter::kPingsSent) > 100);
}

TEST_CASE("no PING is sent while all waiting streams receive data") {
  World world(two_hosts(30s));
  const auto first = world.open_flow(0, 1);
  const auto second = world.open_flow(0, 1);
  for (int i = 0; i < 200; ++i) {
    world.transfer(first, 1000, time_from_ns(i * 10'000'000));
    world.transfer(second, 1000, time_from_ns(i * 10'000'000));
  }
  world.run_for(1900ms);
  CHECK(world.sum(Counter::kPingsSent) == 0);
  world.finish(1s);
}

// The busy stream shows that the peer is alive, and its ACKs keep the sender from probing: on a
// path this long, two lost ones do not matter.
TEST_CASE("the lost report of a posted receive is repaired within 60 ms beside a busy stream") {
  for (const bool is_idle : {false, true}) {
    WorldConfig config = two_hosts(30s);
    config.network = single_switch(2, {.link = {.delay = 100us}, .paths = 4});
    World world(config);
    const auto flow = world.open_flow(0, 1);
    const auto busy = world.open_flow(0, 1);
    const auto idle = world.open_flow(0, 1);
    for (const std::size_t each : {flow, busy, idle})
      world.transfer(each, 1000);
    REQUIRE(world.run_until(world.now() + 1s, [&] { return world.finished(); }));
    if (is_idle) world.transfer(idle, 1000, kMuchLater);
    const Time begin = world.now();
    for (int i = 0; i < 10'000; ++i)
      world.transfer(busy, 1000, begin + i * 20us);
    const Time at = begin + 100ms;
    Message& message = world.transfer(flow, 1 << 20, Time{}, at);
    world.run_until(at);
    std::size_t lost = 0;
    world.set_filter([&](HostIndex to, Datagram& datagram) {
      wire::Ack ack;
      if (to != 0 || lost == 2 || !wire::decode_ack(datagram, ack)) return true;
      const bool reports = std::ranges::any_of(
          ack.streams(),
          [](const wire::StreamReport& one) { return one.stream == 1 && one.posted == 2; });
      lost += reports ? 1 : 0;
      return !reports;
    });
    REQUIRE(world.run_until(at + 2s, [&] { return message.receive_done; }));
    CHECK(lost == 2);
    CHECK(message.done_at - at > 10ms);
    CHECK(message.done_at - at < 65ms);
  }
}

// The sender of one stream closes during an outage and forgets it 30 s later, while other streams
// from the same peer go on.
TEST_CASE("a receiver does not wait for a stream that its sender has forgotten") {
  for (const std::size_t streams : {2u, 300u}) {
    World world(two_hosts(40s));
    world.ledger().allow_failures();
    const auto flows = open_waiting(world, streams);
    world.set_filter(
        [](HostIndex, Datagram& datagram) { return !is(datagram, wire::FrameType::kClose); });
    const std::size_t forgotten = flows[streams / 2];
    world.close_sender(forgotten);
    const Time closed = world.now();
    world.run_until(closed + 30s - 1ms);
    REQUIRE_FALSE(world.flow(forgotten).receive_error.has_value());
    world.run_until(closed + 30s + 200ms);
    REQUIRE(world.flow(forgotten).receive_error.has_value());
    CHECK_THAT(world.flow(forgotten).receive_error->message(), Contains("no longer knows"));
    for (const std::size_t flow : flows)
      CHECK((flow == forgotten || !world.flow(flow).receive_error.has_value()));
  }
}

TEST_CASE("a receiver that has missed how its stream ended is told in answer to PING") {
  for (const std::size_t streams : {1u, 3u}) {  // 1: no stream of the association remains
    for (const bool fails : {false, true}) {
      World world(two_hosts(30s));
      world.ledger().allow_failures();
      const auto flows = open_waiting(world, streams);
      world.set_filter([](HostIndex, Datagram&) { return false; });
      if (fails)
        world.endpoint(0).fail_context(world.now(), 1, {ErrorCode::kSystem, "a test fails", ""});
      else
        world.close_sender(flows[0]);
      world.run_for(1s);
      world.set_filter([](HostIndex, Datagram&) { return true; });
      const auto& error = world.flow(flows[0]).receive_error;
      CHECK(world.run_until(world.now() + 2s, [&] { return error.has_value(); }));
      REQUIRE(error.has_value());
      CHECK_THAT(error->message(), Contains(fails ? "a test fails" : "closed the connection"));
      for (std::size_t i = 1; i < streams; ++i)
        CHECK_FALSE(world.flow(flows[i]).receive_error.has_value());
    }
  }
}

TEST_CASE("a forged refusal that follows data ends nothing, though answers take 20 ms") {
  WorldConfig config = two_hosts(30s);
  for (auto& host : config.network.hosts)
    host.link.delay = 5ms;  // four links for a round trip
  World world(std::move(config));
  const auto flow = world.open_flow(0, 1);
  Message& message = world.transfer(flow, 1000, time_from_ns(1'000'000'000));
  world.transfer(flow, 1000, kMuchLater);
  Datagram ack;
  world.set_filter([&](HostIndex to, Datagram& datagram) {
    if (to == 0) ack = datagram;
    return true;
  });
  REQUIRE(world.run_until(time_from_ns(2'000'000'000), [&] { return message.receive_done; }));
  world.endpoint(1).on_refused(world.now(), ack);
  world.run_for(1s);
  CHECK_FALSE(world.flow(flow).receive_error.has_value());
}

TEST_CASE("a PONG that is forged or repeated ends no stream") {
  World world(two_hosts(30s));
  const auto flows = open_waiting(world, 2);
  Datagram genuine;
  world.set_filter([&](HostIndex, Datagram& datagram) {
    if (is(datagram, wire::FrameType::kPong)) genuine = datagram;
    return true;
  });
  world.run_for(200ms);
  auto pong = wire::decode<wire::Pong>(genuine);
  REQUIRE(pong);
  CHECK(pong->unknown.empty());
  pong->unknown = {1, 2};
  Datagram forged;
  wire::encode(*pong, forged);
  wire::seal(forged, wire::Key{1, 2}, wire::control_sequence(genuine) + 1, 0);
  world.deliver(1, forged);
  world.deliver(1, genuine);
  world.run_for(200ms);
  CHECK(world.sum(Counter::kDroppedUnauthentic) == 1);
  CHECK(world.sum(Counter::kDroppedReplayed) == 1);
  for (const std::size_t flow : flows)
    CHECK_FALSE(world.flow(flow).receive_error.has_value());
}

TEST_CASE("a new stream opens while the ended association still answers PING") {
  World world(two_hosts(30s));
  world.ledger().allow_failures();
  const auto flows = open_waiting(world, 2);
  for (const std::size_t flow : flows) {
    world.close_sender(flow);
    world.close_receiver(flow);
  }
  world.run_for(100ms);
  const auto again = world.open_flow(0, 1);
  Message& message = world.transfer(again, 100'000);
  CHECK(world.run_until(world.now() + 1s, [&] { return message.receive_done; }));
}

TEST_CASE(
    "every stream of a peer that dies fails at the timeout, whichever received a frame last") {
  World world(two_hosts(1s));
  world.ledger().allow_failures();
  const auto flows = open_waiting(world, 64);
  Time last{};
  world.set_filter([&](HostIndex to, Datagram&) {
    if (to == 1) last = world.now();
    return true;
  });
  world.run_for(500ms);
  world.kill(0);
  world.run_for(1ms);
  const auto failed = [&](std::size_t flow) { return world.flow(flow).receive_error.has_value(); };
  world.run_until(last + 1s - 1us);
  CHECK(std::ranges::none_of(flows, failed));
  world.run_until(last + 1s + 1us);
  CHECK(std::ranges::all_of(flows, failed));
}

TEST_CASE("a killed process is detected on all of its streams within 130 ms of silence") {
  World world(two_hosts(30s));
  world.ledger().allow_failures();
  const auto flows = open_waiting(world, 16);
  world.run_for(1s);
  world.set_filter([&](HostIndex to, Datagram& datagram) {
    if (to == 0) world.endpoint(1).on_refused(world.now(), datagram);
    return to != 0;
  });
  world.run_for(130ms);
  for (const std::size_t flow : flows) {
    REQUIRE(world.flow(flow).receive_error.has_value());
    CHECK_THAT(world.flow(flow).receive_error->message(), Contains("rejects packets"));
  }
}
