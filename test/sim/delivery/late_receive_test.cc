// Streams that share an association with a stream whose receive is posted late.
#include <vector>

#include "catch.h"
#include "random_world.h"
#include "wire/data/data_header.h"
#include "wire/frames/control_frame.h"
#include "world.h"

using namespace dlcp;
using namespace dlcp::test;
using namespace dlcp::datapath::sim;
using core::Counter;

namespace {

constexpr std::size_t kLong = 512 << 10;

World world_of(std::size_t hosts) {
  WorldConfig config;
  config.network = single_switch(hosts, host_at(10'000'000'000));
  return World(std::move(config));
}

using Datagram = std::vector<std::byte>;

}  // namespace

TEST_CASE("early data for which the receiver has no memory does not stop the other streams") {
  World world = world_of(3);
  const Time late = time_from_ns(300'000'000);
  for (int i = 0; i < 140; ++i)  // more than fits into the receiver's pool
    world.transfer(world.open_flow(2, 1), kLong, Time{}, late);
  world.run_for(20ms);
  world.transfer(world.open_flow(0, 1), kLong, Time{}, late);
  const auto posted = world.open_flow(0, 1);
  world.run_for(5ms);
  for (int k = 0; k < 40; ++k)
    world.transfer(posted, kLong);
  CHECK(
      world.run_until(world.now() + 40ms, [&] { return world.flow(posted).receives_done == 40; }));
  // The packets that the receiver dropped are not repeated before it has room for them.
  world.run_until(late);
  CHECK(world.sum(Counter::kDroppedUnposted) > 0);
  CHECK(world.sum(Counter::kPacketsRetransmitted) == 0);
  world.finish(1s);
}

TEST_CASE("a lost packet is repaired at once although another stream waits for its receive") {
  for (const Duration waited : {50ms, 300ms, 1100ms}) {
    World world = world_of(2);
    const auto late = world.open_flow(0, 1);
    const auto other = world.open_flow(0, 1);
    for (int k = 0; k < 20; ++k) {
      world.transfer(late, 64 << 10);
      world.transfer(other, 1024);
    }
    REQUIRE(world.run_until(Time{} + 1s, [&] { return world.finished(); }));
    const Time begin = world.now();
    world.transfer(late, kLong, Time{}, begin + 5s);
    const Time at = begin + waited;
    Message& message = world.transfer(other, 1024, at, begin);
    world.run_until(at);
    bool lost = false;
    world.set_filter([&](HostIndex to, Datagram& datagram) {
      if (lost || to != 1 || !wire::decode_data(datagram)) return true;
      lost = true;
      return false;
    });
    REQUIRE(world.run_until(at + 2s, [&] { return message.receive_done; }));
    CHECK(lost);
    CHECK(message.done_at - at < 1ms);
  }
}

TEST_CASE("the loss of the ACK that reports a late receive delays the sender by one PING") {
  for (const Duration late : {100ms, 600ms, 1100ms}) {
    World world = world_of(2);
    const auto flow = world.open_flow(0, 1);
    world.transfer(flow, 64 << 10);
    REQUIRE(world.run_until(Time{} + 1s, [&] { return world.finished(); }));
    const Time at = world.now() + late;
    Message& message = world.transfer(flow, kLong, Time{}, at);
    world.run_until(at);
    bool lost = false;
    world.set_filter([&](HostIndex to, Datagram& datagram) {
      const auto head = wire::decode_head(datagram);
      if (lost || to != 0 || !head || head->type != wire::FrameType::kAck) return true;
      lost = true;
      return false;
    });
    REQUIRE(world.run_until(at + 2s, [&] { return message.receive_done; }));
    CHECK(lost);
    CHECK(message.done_at - at < 30ms);
  }
}
