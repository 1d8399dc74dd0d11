// Streams that share an association: they have one handshake and one sequence of acknowledgements,
// and the end of a stream does not affect the others.
#include <algorithm>
#include <vector>

#include "catch.h"
#include "random_world.h"
#include "seeds.h"
#include "wire/frames/control_frame.h"

using namespace dlcp;
using namespace dlcp::test;
using namespace dlcp::datapath::sim;
using core::Counter;

namespace {

using Datagram = std::vector<std::byte>;

WorldConfig two_hosts(std::uint64_t seed = 1) {
  WorldConfig config;
  config.network = single_switch(2, {.paths = 4});
  config.network.seed = config.seed = seed;
  config.core.peer_timeout = 2s;
  return config;
}

bool is(const Datagram& datagram, wire::FrameType type) {
  const auto head = wire::decode_head(datagram);
  return head && head->type == type;
}

// Streams from host 0 to host 1, each in a context of its own, numbered from 1.
std::vector<std::size_t> open_streams(World& world, std::size_t count) {
  std::vector<std::size_t> flows;
  for (std::size_t i = 0; i < count; ++i)
    flows.push_back(world.open_flow(0, 1, i + 1));
  return flows;
}

// Four messages on each stream; returns when a part of them has arrived.
void begin_transfers(World& world, const std::vector<std::size_t>& flows, std::size_t bytes,
                     Duration limit = 5s) {
  for (const std::size_t flow : flows)
    for (int k = 0; k < 4; ++k)
      world.transfer(flow, bytes);
  REQUIRE(
      world.run_until(Time{} + limit, [&] { return world.ledger().placed_bytes(1) > 100'000; }));
}

bool done(World& world, const std::vector<std::size_t>& flows) {
  return std::all_of(
      flows.begin(), flows.end(),
      [&](std::size_t flow) {
        return world.flow(flow).receives_done == world.flow(flow).messages.size();
      });
}

}  // namespace

TEST_CASE("eight streams open with one full handshake and a small HELLO for each further stream") {
  World world(two_hosts());
  std::size_t starts = 0;
  std::size_t large_hellos = 0;
  std::size_t small_hellos = 0;
  world.set_filter([&](HostIndex to, Datagram& datagram) {
    if (to != 1) return true;
    if (is(datagram, wire::FrameType::kStart)) ++starts;
    if (is(datagram, wire::FrameType::kHello))
      ++(datagram.size() > 600 ? large_hellos : small_hellos);
    return true;
  });
  const auto flows = open_streams(world, 8);
  for (const std::size_t flow : flows)
    world.transfer(flow, 10'000);
  world.finish(1s);
  CHECK(starts <= 2);  // repeated in answer to a late WELCOME
  CHECK(large_hellos <= 2);
  CHECK(small_hellos == 7);
}

TEST_CASE("many streams keep every byte intact under loss, reordering and duplication") {
  for_each_seed(
      200,
      [](std::uint64_t seed) {
        World world(two_hosts(seed));
        world.network().set_edge_faults({.drop = 0.1, .duplicate = 0.02});
        Rng rng(seed);
        const auto flows = open_streams(world, 2 + rng.below(9));
        for (const std::size_t flow : flows)
          for (std::size_t k = rng.below(5) + 1; k > 0; --k)
            world.transfer(flow, rng.below(60'000));
        world.finish(60s);
      });
}

TEST_CASE("an aborted stream does not affect the other streams of its association") {
  for_each_seed(
      50,
      [](std::uint64_t seed) {
        World world(two_hosts(seed));
        world.ledger().allow_failures();
        world.network().set_edge_faults({.drop = 0.05});
        const auto flows = open_streams(world, 4);
        begin_transfers(world, flows, 200'000, 10s);
        seed % 2 == 0 ? world.close_sender(flows[1]) : world.close_receiver(flows[1]);
        world.finish(20s);
        for (const std::size_t flow : {flows[0], flows[2], flows[3]}) {
          CHECK(world.flow(flow).receives_done == 4);
          CHECK_FALSE(world.flow(flow).send_error.has_value());
          CHECK_FALSE(world.flow(flow).receive_error.has_value());
        }
      });
}

TEST_CASE("a communicator that fails does not affect the streams of another communicator") {
  World world(two_hosts());
  world.ledger().allow_failures();
  const auto flows = open_streams(world, 3);
  begin_transfers(world, flows, 400'000);
  world.endpoint(0).fail_context(world.now(), 1, {ErrorCode::kRemote, "a test", ""});
  world.finish(5s);
  CHECK(world.flow(flows[0]).receive_error.has_value());
  CHECK(done(world, {flows[1], flows[2]}));
}

TEST_CASE("a peer that dies fails every stream within the peer timeout") {
  World world(two_hosts());
  world.ledger().allow_failures();
  const auto flows = open_streams(world, 5);
  begin_transfers(world, flows, 400'000);
  world.kill(1);
  const Time killed = world.now();
  REQUIRE(world.run_until(killed + 3s, [&] {
    return std::all_of(flows.begin(), flows.end(),
                       [&](std::size_t flow) { return world.flow(flow).send_error.has_value(); });
  }));
  CHECK(world.now() - killed <= 2200ms);
}

TEST_CASE("a HELLO that joins an association opens its stream once, however often it arrives") {
  World world(two_hosts());
  Datagram join;
  world.set_filter([&](HostIndex to, Datagram& datagram) {
    if (to == 1 && is(datagram, wire::FrameType::kHello) && datagram.size() < 600) join = datagram;
    return true;
  });
  const auto flows = open_streams(world, 2);
  for (const std::size_t flow : flows)
    world.transfer(flow, 1000);
  world.finish(1s);
  REQUIRE_FALSE(join.empty());
  world.set_filter(nullptr);
  const std::size_t before = world.endpoint(1).connection_count();
  world.deliver(1, join);
  CHECK(world.endpoint(1).connection_count() == before);
  world.close_sender(flows[1]);
  world.close_receiver(flows[1]);
  world.run_for(10s);  // nothing of the stream is left
  world.deliver(1, join);
  CHECK(world.endpoint(1).connection_count() == before - 1);
}

TEST_CASE("a stream whose HELLO is lost opens although a thousand later ones opened before it") {
  World world(two_hosts());
  const auto first = world.open_flow(0, 1, 1);
  world.transfer(first, 1000);
  world.run_until(world.now() + 1s, [&] { return world.flow(first).sends_done == 1; });
  bool lost = false;
  world.set_filter([&](HostIndex to, Datagram& datagram) {
    return lost || to != 1 || !is(datagram, wire::FrameType::kHello) || !(lost = true);
  });
  std::vector<std::size_t> flows;
  for (std::size_t i = 0; i < 1200; ++i)
    flows.push_back(world.open_flow(0, 1, 1));
  world.transfer(flows.front(), 1000);
  world.run_until(world.now() + 1s, [&] { return done(world, {flows.front()}); });
  CHECK(lost);
  CHECK(done(world, {flows.front()}));
}

TEST_CASE("streams open although the first one closes before its STARTED arrives") {
  World world(two_hosts());
  world.set_filter([&](HostIndex to, Datagram& datagram) {
    return to != 0 || !is(datagram, wire::FrameType::kStarted);
  });
  world.ledger().allow_failures();
  const auto flows = open_streams(world, 2);
  REQUIRE(world.run_until(world.now() + 1s,
                          [&] { return world.flow(flows[0]).receive_connection.has_value(); }));
  world.close_receiver(flows[0]);
  world.transfer(flows[1], 1000);
  world.run_until(world.now() + 1s, [&] { return done(world, {flows[1]}); });
  CHECK(done(world, {flows[1]}));
}

TEST_CASE(
    "the reserve survives the loss of STARTED, if the first stream closes before it arrives") {
  World world(two_hosts());
  world.ledger().allow_failures();
  std::size_t data = 0;  // packets that arrive before the first ACK
  bool acked = false;
  world.set_filter([&](HostIndex to, Datagram& datagram) {
    if (to == 1 && is(datagram, wire::FrameType::kData)) data += acked ? 0 : 1;
    if (to == 0 && is(datagram, wire::FrameType::kAck)) acked = true;
    return to != 0 || !is(datagram, wire::FrameType::kStarted);
  });
  const auto flows = open_streams(world, 2);
  REQUIRE(world.run_until(world.now() + 1s,
                          [&] { return world.flow(flows[0]).receive_connection.has_value(); }));
  world.close_receiver(flows[0]);
  world.transfer(flows[1], 10'000);
  REQUIRE(world.run_until(world.now() + 1s, [&] { return done(world, {flows[1]}); }));
  world.run_for(500ms);  // the receiver has taken back the share
  data = 0;
  acked = false;
  world.transfer(flows[1], 10'000);
  REQUIRE(world.run_until(world.now() + 1s, [&] { return done(world, {flows[1]}); }));
  CHECK(data > 1);
}

TEST_CASE("a new stream opens although the receiver has forgotten the association") {
  World world(two_hosts());
  world.ledger().allow_failures();
  const auto first = world.open_flow(0, 1, 1);
  world.transfer(first, 10'000);
  world.run_until(world.now() + 1s, [&] { return world.flow(first).sends_done == 1; });
  world.close_receiver(first);
  world.run_for(10s);  // its sender stays open
  const auto second = world.open_flow(0, 1, 2);
  world.transfer(second, 100'000);
  const auto third = world.open_flow(0, 1, 3);
  world.transfer(third, 100'000);
  world.run_until(world.now() + 3s, [&] { return done(world, {second, third}); });
  INFO(world.describe());
  CHECK(done(world, {second, third}));
}

TEST_CASE("a stream that waits for a refused handshake of another stream sends HELLO itself") {
  World world(two_hosts());
  world.ledger().allow_failures();
  const auto flows = open_streams(world, 2);
  world.endpoint(1).close_listener(world.now(), world.flow(flows[0]).listener);
  world.transfer(flows[1], 10'000);
  world.run_until(world.now() + 2s, [&] { return done(world, {flows[1]}); });
  CHECK(world.flow(flows[0]).send_error.has_value());
  CHECK(done(world, {flows[1]}));
}

TEST_CASE("a sender learns of the end of a stream that was closed before its WELCOME arrived") {
  World world(two_hosts());
  world.ledger().allow_failures();
  const auto first = world.open_flow(0, 1, 1);
  world.transfer(first, 1000);
  world.run_until(world.now() + 1s, [&] { return world.flow(first).sends_done == 1; });
  bool lossy = true;
  world.set_filter([&](HostIndex to, Datagram& datagram) {
    return !(lossy && to == 0 && is(datagram, wire::FrameType::kWelcome));
  });
  const auto second = world.open_flow(0, 1, 2);
  REQUIRE(world.run_until(world.now() + 1s,
                          [&] { return world.flow(second).receive_connection.has_value(); }));
  world.close_receiver(second);
  world.run_for(50ms);
  lossy = false;
  world.transfer(second, 1000);
  const Time begin = world.now();
  world.run_until(begin + 3s, [&] { return world.flow(second).send_error.has_value(); });
  REQUIRE(world.flow(second).send_error.has_value());
  CHECK(world.now() - begin < 1s);
}

TEST_CASE("records of closed streams do not answer the probes of those that remain") {
  World world(two_hosts());
  world.ledger().allow_failures();
  auto flows = open_streams(world, 30);
  for (const std::size_t flow : flows)
    world.transfer(flow, 1000);
  REQUIRE(world.run_until(world.now() + 1s, [&] { return done(world, flows); }));
  world.network().set_edge_faults({.drop = 0.1});
  for (std::size_t i = 1; i < flows.size(); ++i) {
    world.close_sender(flows[i]);
    world.run_for(100ms);
    world.close_receiver(flows[i]);
  }
  std::size_t closes = 0;
  world.set_filter([&](HostIndex, Datagram& datagram) {
    closes += is(datagram, wire::FrameType::kClose) ? 1 : 0;
    return true;
  });
  const auto probes = [&] { return world.endpoint(0).counters()[Counter::kProbesSent]; };
  const auto before = probes();
  for (int i = 0; i < 300; ++i) {
    world.transfer(flows[0], 1000);
    world.run_for(10ms);
  }
  CHECK(probes() > before + 10);
  CHECK(closes < 10);
}

TEST_CASE("streams of one association share its rate equally") {
  World world(two_hosts());
  const auto flows = open_streams(world, 4);
  for (const std::size_t flow : flows)
    for (int k = 0; k < 30; ++k)
      world.transfer(flow, 300'000);
  REQUIRE(world.run_until(world.now() + 30s, [&] {
    return std::any_of(flows.begin(), flows.end(),
                       [&](std::size_t flow) { return world.flow(flow).receives_done == 30; });
  }));
  for (const std::size_t flow : flows)
    CHECK(world.flow(flow).receives_done >= 27);
  world.finish(30s);
}

TEST_CASE("eight streams need no more acknowledgements per packet than one") {
  double share[2];
  for (const std::size_t streams : {1u, 8u}) {
    World world(two_hosts());
    const auto flows = open_streams(world, streams);
    for (const std::size_t flow : flows)
      for (std::size_t k = 0; k < 64 / streams; ++k)
        world.transfer(flow, 500'000);
    world.finish(30s);
    share[streams == 8] = static_cast<double>(world.sum(Counter::kAcksSent)) /
                          static_cast<double>(world.sum(Counter::kPacketsReceived));
  }
  INFO(share[0] << " and " << share[1] << " acknowledgements for a packet");
  CHECK(share[1] <= 1.1 * share[0]);
}

TEST_CASE("short messages of several streams leave in common bursts if they have the same size") {
  for (const std::size_t bytes : {std::size_t{64}, std::size_t{700}}) {
    World world(two_hosts());
    const auto flows = open_streams(world, 8);
    for (const std::size_t flow : flows)
      world.transfer(flow, 5'000);
    world.finish(10s);
    const std::uint64_t packets = world.sum(Counter::kPacketsSent);
    const std::uint64_t bursts = world.sum(Counter::kBurstsSent);
    for (const std::size_t flow : flows)
      for (int k = 0; k < 8; ++k)
        world.transfer(flow, bytes);
    world.finish(30s);
    CHECK(world.sum(Counter::kPacketsSent) - packets >= 64);
    CHECK(world.sum(Counter::kBurstsSent) - bursts <= 16);
  }
}
