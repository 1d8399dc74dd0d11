// Old packets, delivered again by an attacker that can read the network but not forge packets: they
// change no state, no timer and no estimate.
#include <fmt/format.h>

#include <algorithm>

#include "catch.h"
#include "wire/codec.h"
#include "wire/data/data_header.h"
#include "wire/frames/control_frame.h"
#include "world.h"

using namespace dlcp;
using namespace dlcp::test;
using namespace dlcp::datapath::sim;
using core::Counter;

namespace {

using Datagram = std::vector<std::byte>;

WorldConfig pair_of_hosts() {
  WorldConfig config;
  LinkConfig link;
  link.rate = 10e9;
  config.network = single_switch(2, {.link = link});
  return config;
}

bool is(const Datagram& datagram, wire::FrameType type) {
  const auto head = wire::decode_head(datagram);
  return head && head->type == type;
}

// How long it takes to move 50 MB after a pause of `age`, while an ACK from before that pause
// arrives again `per_second` times per second.
Duration time_with_old_acks(Duration age, int per_second) {
  World world(pair_of_hosts());
  Datagram old;
  world.set_filter([&](HostIndex to, Datagram& datagram) {
    if (to == 0 && old.empty() && is(datagram, wire::FrameType::kAck)) old = datagram;
    return true;
  });
  const auto flow = world.open_flow(0, 1);
  world.transfer(flow, 1'000'000);
  world.run_until(time_from_ns(10'000'000'000), [&] { return world.flow(flow).sends_done == 1; });
  REQUIRE_FALSE(old.empty());
  world.set_filter(nullptr);
  world.run_for(age);
  const Time begin = world.now();
  for (int i = 0; i < 50; ++i)
    world.transfer(flow, 1'000'000);
  while (world.flow(flow).sends_done < 51 && world.now() < begin + 300s) {
    if (per_second > 0) {
      const auto before = world.endpoint(0).counters()[Counter::kDroppedReplayed];
      world.deliver(0, old);
      REQUIRE(world.endpoint(0).counters()[Counter::kDroppedReplayed] == before + 1);
    }
    world.run_for(Duration(1s) / std::max(per_second, 1000));
  }
  REQUIRE(world.flow(flow).sends_done == 51);
  const Message& last = world.flow(flow).messages.back();
  return last.done_at - begin;
}

}  // namespace

TEST_CASE("an old ACK that arrives a thousand times per second does not reduce goodput") {
  const double alone = static_cast<double>(time_with_old_acks(20s, 0).count());
  const double replayed = static_cast<double>(time_with_old_acks(20s, 1000).count());
  fmt::print("50 MB: {:.2f} ms; with an old ACK 1000 times a second {:.2f} ms: goodput {:.3f}\n",
             alone / 1e6, replayed / 1e6, alone / replayed);
  CHECK(alone / replayed >= 0.98);
}

TEST_CASE("an ACK from five minutes ago is not taken for a future one") {
  const double alone = static_cast<double>(time_with_old_acks(300s, 0).count());
  const double replayed = static_cast<double>(time_with_old_acks(300s, 1000).count());
  CHECK(alone / replayed >= 0.98);
}

TEST_CASE("old packets of any type do not keep a dead peer alive, at either end") {
  for (const HostIndex dead : {0u, 1u}) {
    auto config = pair_of_hosts();
    config.core.peer_timeout = 1s;
    World world(std::move(config));
    world.ledger().allow_failures();
    std::vector<Datagram> seen;
    const HostIndex alive = 1 - dead;
    world.set_filter([&](HostIndex to, Datagram& datagram) {
      if (to == alive && seen.size() < 2000) seen.push_back(datagram);
      return true;
    });
    const auto flow = world.open_flow(0, 1);
    for (int i = 0; i < 40; ++i)
      world.transfer(flow, 100'000);
    world.run_until(time_from_ns(5'000'000'000),
                    [&] { return world.flow(flow).receives_done == 20; });
    world.kill(dead);
    const Time killed = world.now();
    const auto over = [&] {
      return dead == 1 ? world.flow(flow).send_error.has_value()
                       : world.flow(flow).receive_error.has_value();
    };
    for (std::size_t i = 0; !over() && world.now() < killed + 10s; ++i) {
      world.deliver(alive, seen[i % seen.size()]);
      world.run_for(1ms);
    }
    INFO("dead: " << dead);
    REQUIRE(over());
    CHECK(world.now() - killed <= 1300ms);
  }
}

TEST_CASE("a credit grant that 200 newer ones have overtaken is ignored") {
  // The ACK is delayed, not repeated: it was never received before, but is outdated.
  World world(pair_of_hosts());
  Datagram held;
  int acks = 0;
  world.set_filter([&](HostIndex to, Datagram& datagram) {
    if (to != 0 || !is(datagram, wire::FrameType::kAck)) return true;
    if (++acks != 5) return true;
    held = datagram;
    return false;
  });
  const auto flow = world.open_flow(0, 1);
  for (int i = 0; i < 30; ++i)
    world.transfer(flow, 1'000'000);
  Duration with{0};
  world.run_until(time_from_ns(5'000'000'000), [&] { return acks > 300; });
  const Time begin = world.now();
  wire::Ack ack;
  REQUIRE(wire::decode_ack(held, ack));
  ack.window_packets = 1;  // would limit the sender to one packet
  ack.window_epoch = static_cast<std::uint16_t>(ack.window_epoch + 20'000);
  wire::Buffer forged;
  wire::encode(ack, forged);
  forged.resize(forged.size() + wire::kTagBytes);
  wire::store_le(forged.data() + wire::kFrameHeadBytes, wire::control_sequence(held));
  REQUIRE(world.keys().reseal(forged));
  world.deliver(0, forged);
  world.run_until(time_from_ns(50'000'000'000), [&] { return world.flow(flow).sends_done == 30; });
  with = world.now() - begin;
  REQUIRE(world.flow(flow).sends_done == 30);
  CHECK(with < 60ms);  // 30 MB at 10 Gb/s take 24 ms
}
