// The timers of a receiving stream and its association, at exact times, and those of an endpoint.
#include <memory>
#include <vector>

#include "catch.h"
#include "core/endpoint.h"
#include "core/endpoint_addresses.h"
#include "core/streams/recv_stream.h"
#include "secrets.h"

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

  Config config;
  Counters counters;
  CreditPool credits{config.receive_capacity_bytes, config.eager_bytes};
  UnpostedPool pool{config.unposted_pool_bytes, 0};
  std::shared_ptr<RecvAssociation> association = std::make_shared<RecvAssociation>(
      config, counters, credits, Channel(), RecvAssociation::Open{});
  RecvStream stream{kStart, config, counters, pool, 9, hello(), *association};
  PlacementBatch placements;
};

}  // namespace

TEST_CASE("a receiver that is not accepted yet waits for its sender only, and asks after 20 ms") {
  Receiver receiver;
  const Duration patience = receiver.config.peer_timeout;
  CHECK(receiver.stream.next_timeout() == kStart + patience);  // the sender must send START
  receiver.start(kStart + 1ms);
  CHECK(receiver.association->next_timeout() == kStart + 21ms);
  CHECK(receiver.stream.next_timeout() == kStart + 1ms + patience);
  receiver.stream.on_timeout(kStart + 1ms + patience - 1ns);
  CHECK_FALSE(receiver.stream.failed());
  receiver.stream.on_accepted();
  CHECK(receiver.stream.next_timeout() == kNever);  // no timer is set
  receiver.association->on_timeout(kStart + 21ms);
  CHECK(receiver.association->next_timeout() == kNever);

  Receiver forgotten;
  forgotten.start(kStart + 1ms);
  forgotten.stream.on_timeout(kStart + 1ms + patience);
  CHECK(forgotten.stream.failed());
}

TEST_CASE("data makes a receiver acknowledge, and its credit lapses 25 ms later") {
  Receiver receiver;
  const Duration patience = receiver.config.peer_timeout;
  receiver.start(kStart);
  receiver.stream.on_accepted();
  std::vector<std::byte> buffer(100'000);
  receiver.stream.post(kStart, 1, buffer, {}, MemoryKind::kHost, receiver.placements);
  CHECK(receiver.association->next_timeout() == kStart + 50us);
  CHECK(receiver.stream.next_timeout() == kStart + patience);

  const Time now = kStart + 10us;
  const std::vector<std::byte> payload(1408);
  wire::DataPacket data;
  data.header.message_bytes = 100'000;
  data.payload = payload;
  DataRun run{.placements = receiver.placements.wanted};
  receiver.stream.on_data({.bytes = payload, .arrived_at = now, .source = {}}, data, run);
  receiver.stream.on_run(now, run);
  CHECK(receiver.placements.wanted.size() == 1);
  // The window has its smallest size, so the sender waits.
  CHECK(receiver.association->next_timeout() == now);
  FrameArena arena;
  FrameWriter frames(arena, receiver.association->channel());
  std::vector<wire::TxPacket> out(4);
  CHECK(receiver.association->poll_transmit(now, frames, out) == 1);
  CHECK(receiver.stream.next_timeout() == now + patience);
  // Data postpones PING, which is planned again only when it would be due.
  CHECK(receiver.association->next_timeout() == kStart + 20ms);
  receiver.association->on_timeout(kStart + 20ms);
  CHECK(receiver.association->next_timeout() == now + 20ms);
  receiver.association->on_timeout(now + 20ms);
  CHECK(receiver.association->poll_transmit(now + 20ms, frames, out) == 1);
  CHECK(wire::decode_head(out[0].payload)->type == wire::FrameType::kPing);
  CHECK(receiver.association->next_timeout() == now + kWindowReclaim);
  receiver.association->on_timeout(now + kWindowReclaim);
  CHECK(receiver.association->next_timeout() == now + 60ms);
  receiver.stream.on_timeout(now + patience - 1ns);
  CHECK_FALSE(receiver.stream.failed());
  receiver.stream.on_timeout(now + patience);
  CHECK(receiver.stream.failed());
  CHECK(receiver.stream.next_timeout() == kNever);  // a failed stream has no timer
}

TEST_CASE("a connection ends at the peer timeout even if its packets can never be sent") {
  Config config;
  config.peer_timeout = 2s;
  Endpoint endpoint(config, test::address_of(0), test::secrets_of(1));
  Time now = kStart;
  const ConnectionId connection =
      endpoint.connect(now, 1, {}, test::address_of(1), {}, OnSilence::kFailContext);
  for (; now < kStart + 2s; now += 1ms)
    endpoint.on_timeout(now);  // poll_transmit() is not called: the datapath takes no packets
  CHECK_FALSE(endpoint.poll_event());
  CHECK(endpoint.next_timeout() <= kStart + 2s);
  endpoint.on_timeout(kStart + 2s);
  const auto event = endpoint.poll_event();
  REQUIRE(event);
  CHECK(event->kind == Event::Kind::kClosed);
  CHECK(event->connection == connection);
}
