// The timers of a connection, by name, at exact times.
#include "core/endpoint/timers.h"

#include <memory>
#include <vector>

#include "catch.h"
#include "core/streams/recv_stream.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {

const Time kStart = time_from_ns(1'000'000'000);

// A receiving stream whose sender has sent HELLO at kStart, and its association.
struct Receiver {
  static wire::Hello hello() {
    wire::Hello hello;
    hello.sender_token = 7;
    return hello;
  }
  void start(Time now) {
    wire::Start start;
    start.payload_bytes = 1408;
    stream.on_start(now, start, 0);
  }
  Time at(Timer timer) const { return stream.deadlines().at(timer); }

  Config config;
  Counters counters;
  CreditPool credits{config.receive_capacity_bytes, config.eager_bytes};
  UnpostedPool pool{config.unposted_pool_bytes, 0};
  std::shared_ptr<RecvAssociation> association = std::make_shared<RecvAssociation>(
      config, counters, credits, Channel(), RecvAssociation::Open{});
  RecvStream stream{kStart, config, counters, pool, 9, hello(), association};
  std::vector<Placement> placements;
};

}  // namespace

TEST_CASE("the earliest timer determines the timeout, and each fires at its time") {
  Deadlines deadlines;
  CHECK(deadlines.next() == kNever);
  CHECK_FALSE(deadlines.due(Timer::kPace, kStart));
  deadlines.set(Timer::kPeer, kStart + 30s);
  deadlines.set(Timer::kLoss, kStart + 2ms);
  deadlines.set(Timer::kAck, kStart + 50us);
  CHECK(deadlines.next() == kStart + 50us);
  CHECK_FALSE(deadlines.due(Timer::kLoss, kStart + 2ms - 1ns));
  CHECK(deadlines.due(Timer::kLoss, kStart + 2ms));
  deadlines.set(Timer::kAck, kNever);
  CHECK(deadlines.next() == kStart + 2ms);
}

TEST_CASE("a receiver that is not accepted yet waits for its sender only, and probes after 20 ms") {
  Receiver receiver;
  CHECK(receiver.at(Timer::kPeer) == kStart + receiver.config.peer_timeout);
  CHECK(receiver.at(Timer::kProbe) == kNever);  // the sender must send START
  receiver.start(kStart + 1ms);
  CHECK(receiver.at(Timer::kPeer) == kStart + 1ms + receiver.config.peer_timeout);
  CHECK(receiver.at(Timer::kProbe) == kStart + 21ms);
  CHECK(receiver.association->next_timeout() == kNever);
  CHECK(receiver.stream.next_timeout() == kStart + 21ms);
  receiver.stream.on_accepted();
  CHECK(receiver.stream.next_timeout() == kNever);  // no timer is set
}

TEST_CASE("data makes a receiver acknowledge, and its credit lapses 25 ms later") {
  Receiver receiver;
  receiver.start(kStart);
  receiver.stream.on_accepted();
  std::vector<std::byte> buffer(100'000);
  receiver.stream.post(kStart, 1, buffer, {}, receiver.placements);
  CHECK(receiver.association->next_timeout() == kStart + 50us);
  CHECK(receiver.at(Timer::kProbe) == kStart + 20ms);

  const Time now = kStart + 10us;
  const std::vector<std::byte> payload(1408);
  wire::DataPacket data;
  data.header.message_bytes = 100'000;
  data.payload = payload;
  DataRun run{.placements = receiver.placements};
  receiver.stream.on_data({.bytes = payload, .arrived_at = now, .path = 0, .source = {}}, data,
                          run);
  receiver.stream.on_run(now, run);
  CHECK(receiver.placements.size() == 1);
  // The window has its smallest size, so the sender waits.
  CHECK(receiver.association->next_timeout() == now);
  FrameArena arena;
  FrameWriter frames(arena, receiver.association->channel());
  std::vector<wire::TxPacket> out(4);
  CHECK(receiver.association->poll_transmit(now, frames, out) == 1);
  CHECK(receiver.association->next_timeout() == now + kWindowReclaim);
  CHECK(receiver.at(Timer::kProbe) == now + 20ms);
  receiver.association->on_timeout(now + kWindowReclaim);
  CHECK(receiver.association->next_timeout() == kNever);
  receiver.stream.on_timeout(now + receiver.config.peer_timeout - 1ns);
  CHECK_FALSE(receiver.stream.failed());
  receiver.stream.on_timeout(now + receiver.config.peer_timeout);
  CHECK(receiver.stream.failed());
  CHECK(receiver.stream.next_timeout() == kNever);  // a failed stream has no timer
}
