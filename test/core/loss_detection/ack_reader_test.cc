// How a sender uses the times in an acknowledgement.
#include "core/loss_detection/ack_reader.h"

#include <vector>

#include "catch.h"
#include "wire/data/data_header.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {

const Time kSent = time_from_ns(5'000'000'000);

struct Delays {
  std::vector<Duration> delays;
  std::vector<Duration> answers;
  auto recorder() {
    return [this](Duration fabric, Duration answer) {
      delays.push_back(fabric);
      answers.push_back(answer);
    };
  }
};

// Two paths on which packet 0 was sent at kSent.
struct Sender {
  Sender() {
    flight.on_sent(kSent, 0, {0, 0});
    flight.on_sent(kSent, 1, {0, 1});
  }
  // An ACK of packet 0 of the path, which the receiver held for `held`.
  void report(wire::PathIndex path, Duration held, std::uint8_t ce_marks = 0) {
    ack.paths.push_back(
        {path, ce_marks, 0, wire::wire_time(kSent), static_cast<std::uint32_t>(held.count() >> 7)});
  }
  Duration read(Time arrived_at) {
    return reader.read_paths(arrived_at, ack, arrived_at, 77us,
                             {flight, paths, congestion.recorder()}, sample);
  }

  Flight flight{2};
  PathSet paths{flight, 1};
  Delays congestion;
  AckReader reader;
  AckSample sample{.now = kSent};
  wire::Ack ack;
};

}  // namespace

TEST_CASE("the shortest round trip is that of the last 64 to 128 samples") {
  RttEstimator rtt;
  CHECK(rtt.shortest_or(3ms) == 3ms);
  rtt.add(1ms);
  for (int i = 0; i < 63; ++i)
    rtt.add(20ms);
  CHECK(rtt.shortest_or(3ms) == 1ms);
  for (int i = 0; i < 63; ++i)
    rtt.add(20ms);
  CHECK(rtt.shortest_or(3ms) == 1ms);
  rtt.add(20ms);
  CHECK(rtt.shortest_or(3ms) == 20ms);
}

TEST_CASE("after a pause of the path the RTT to send at is at most 16 times the newest sample") {
  RttEstimator rtt;
  CHECK(rtt.recent_or(3ms) == 3ms);
  for (int i = 0; i < 5; ++i)  // the first packets met the pause
    rtt.add(100ms);
  CHECK_FALSE(rtt.has_fallen());
  CHECK(rtt.recent_or(3ms) == 100ms);
  rtt.add(40us);
  CHECK(rtt.has_fallen());
  CHECK(rtt.recent_or(3ms) == 640us);
  CHECK(rtt.smoothed() > 80ms);
}

TEST_CASE("the receiver's holding time is not a network delay, but is part of the round trip") {
  Sender sender;
  sender.report(0, 12800ns);
  CHECK(sender.read(kSent + 40us) == 40us - 12800ns);
  CHECK(sender.congestion.delays == std::vector<Duration>{40us - 12800ns});
  CHECK(sender.reader.rtt().smoothed() == 40us);
  CHECK(sender.paths.state(0).delay == 40us - 12800ns);
}

TEST_CASE("the shortest path gives the round-trip time; ECN marks are counted") {
  Sender sender;
  sender.report(0, 0ns, 3);
  sender.report(1, 20us, 1);
  sender.read(kSent + 100us);
  CHECK(sender.sample.marked == 4);
  CHECK(sender.congestion.delays.size() == 2);
  CHECK(sender.reader.rtt().smoothed() == 100us);
}

TEST_CASE(
    "the delay of a packet that the card has repeated is not a sample, unless many are as long") {
  Flight flight(1);
  PathSet paths(flight, 1);
  Delays congestion;
  AckReader reader;
  AckSample sample;
  Time now = kSent;
  const auto deliver = [&](Duration took, std::size_t repaired_from) {
    const auto number = static_cast<std::uint32_t>(flight.on_sent(now, 0, {0, 0}));
    wire::Ack ack;
    ack.paths.push_back({0, 0, number, wire::wire_time(now), 0});
    now += took;
    reader.read_paths(now, ack, now, 100us, {flight, paths, congestion.recorder()}, sample,
                      repaired_from);
  };
  for (int i = 0; i < 50; ++i)
    deliver(102400ns, 0);
  const Duration before = reader.rtt().smoothed();
  const std::size_t samples = congestion.delays.size();
  CHECK(samples == 50);
  for (int i = 0; i < 8; ++i)
    deliver(17ms, 0);
  CHECK(reader.rtt().smoothed() == before);
  CHECK(congestion.delays.size() == samples);
  deliver(102400ns, 0);
  for (int i = 0; i < 8; ++i)
    deliver(17ms, 0);
  CHECK(congestion.delays.size() == samples + 1);
  deliver(17ms, 0);  // the network has become slower
  CHECK(congestion.delays.size() == samples + 2);
  CHECK(reader.rtt().smoothed() > before);
  deliver(200ms, 1);  // not repaired by the card
  CHECK(congestion.delays.size() == samples + 3);
}

TEST_CASE("a repeated report gives no sample") {
  Sender sender;
  sender.report(0, 0ns);
  sender.read(kSent + 40us);
  CHECK(sender.read(kSent + 90us) == 0ns);
  CHECK(sender.congestion.delays.size() == 1);
  CHECK(sender.reader.rtt().smoothed() == 40us);
}

TEST_CASE(
    "ECN marks count although the report names no newer packet, or none to take delays from") {
  Sender sender;
  sender.report(0, 0ns);
  sender.read(kSent + 40us);
  sender.ack.paths.clear();
  SECTION("a marked packet has arrived behind a reported one") {
    sender.report(0, 0ns, 1);
    sender.read(kSent + 50us);
  }
  SECTION("the packet was in flight during a pause") {
    sender.reader.on_pause(kSent + 50us);
    sender.report(1, 0ns, 1);
    sender.read(kSent + 3s);
  }
  CHECK(sender.sample.marked == 1);
  CHECK(sender.congestion.delays.size() == 1);
}

TEST_CASE("a packet in flight during a pause gives no sample; one sent on waking does") {
  Sender sender;
  sender.report(0, 0ns);
  SECTION("sent before the pause") {
    sender.reader.on_pause(kSent + 1ns);
    CHECK(sender.read(kSent + 3s) == 0ns);
    CHECK(sender.congestion.delays.empty());
    CHECK_FALSE(sender.reader.rtt().has_sample());
    CHECK(sender.paths.state(0).delay == 77us);
  }
  SECTION("sent on waking") {
    sender.reader.on_pause(kSent);
    CHECK(sender.read(kSent + 3ms) == 3ms);
  }
}

TEST_CASE(
    "duplicates are reported once, also when their count wraps, and an overtaken ACK reports "
    "none") {
  AckReader reader;
  wire::Ack ack;
  ack.duplicates = 5;
  CHECK(reader.read_duplicates(ack) == 5);
  CHECK(reader.read_duplicates(ack) == 0);
  ack.duplicates = 3;
  CHECK(reader.read_duplicates(ack) == 0);
  ack.duplicates = 0x8000'0000u;
  CHECK(reader.read_duplicates(ack) == 0x8000'0000u - 5);
  ack.duplicates = 0x8000'0002u;
  CHECK(reader.read_duplicates(ack) == 2);
}

TEST_CASE("answer delays are differences of two wrapping clocks, relative to the fastest answer") {
  AnswerDelay answers;
  const auto came = [](Duration after) { return kSent + after; };
  const std::uint32_t first = 0xffff'fff0u;  // units of 128 ns: wraps 2 us later
  CHECK(answers.of(first, came(0ns)) == 0ns);
  CHECK(answers.of(first + 100, came(12'800ns)) == 0ns);
  CHECK(answers.of(first + 200, came(25'600ns + 6'400ns)) == 6'400ns);
  // An answer that a later one has overtaken.
  CHECK(answers.of(first + 150, came(25'600ns + 12'800ns)) == 19'200ns);
  CHECK(answers.of(first + 300, came(38'400ns)) == 0ns);
  // Longer than 32 bits can represent.
  constexpr Duration kWrap = Duration(std::int64_t{128} << 32);
  CHECK(answers.of(first + 300, came(38'400ns + kWrap)) == 0ns);
}

TEST_CASE("congestion control receives the delay of the answer") {
  Sender sender;
  sender.ack.sent = wire::wire_time(kSent);
  sender.report(0, 0ns);
  sender.read(kSent + 40us);
  sender.ack.paths.clear();
  sender.report(1, 0ns);
  sender.read(kSent + 60us);
  REQUIRE(sender.congestion.answers.size() == 2);
  CHECK(sender.congestion.answers[0] == 0ns);
  CHECK(std::abs((sender.congestion.answers[1] - 20us).count()) <= 256);
}
