#include "core/liveness/departed.h"

#include <array>

#include "catch.h"

using namespace dlcp;
using namespace dlcp::core;
using wire::FrameType;

namespace {

constexpr Time t0 = time_from_ns(1'000'000'000);

Departed ended(Departed::Kind kind, Duration keep) {
  return {t0, {kind, {77, {}}, "went away", 5}, keep, 16};
}

std::size_t frames_at(Departed& departed, Time now, FrameArena& arena) {
  departed.on_timeout(now);
  arena.reset();
  Channel channel;
  FrameWriter frames(arena, channel);
  std::array<wire::TxPacket, 4> out;
  return departed.poll_transmit(frames, out);
}

}  // namespace

TEST_CASE("a close is repeated until it is confirmed") {
  FrameArena arena;
  Departed departed = ended(Departed::Kind::kClosed, 30s);
  CHECK(departed.awaits_confirmation());
  CHECK(frames_at(departed, t0, arena) == 1);
  CHECK(frames_at(departed, t0 + 6ms - 1ns, arena) == 0);
  CHECK(frames_at(departed, t0 + 6ms, arena) == 1);
  CHECK(departed.on_frame(t0 + 7ms, FrameType::kCloseAck));
}

TEST_CASE("a tombstone answers late data, which extends its life") {
  FrameArena arena;
  Departed departed = ended(Departed::Kind::kConfirmed, 1s);
  CHECK(frames_at(departed, t0, arena) == 0);
  CHECK_FALSE(departed.on_frame(t0 + 900ms, FrameType::kData));
  CHECK(frames_at(departed, t0 + 900ms, arena) == 1);
  CHECK_FALSE(departed.expired(t0 + 1500ms));
  CHECK(departed.expired(t0 + 1900ms));
}

TEST_CASE("a tombstone answers probes if the peer may have missed the end, and lives no longer") {
  FrameArena arena;
  Departed confirmed = ended(Departed::Kind::kConfirmed, 1s);
  confirmed.on_probe();
  CHECK(frames_at(confirmed, t0, arena) == 0);
  CHECK(confirmed.expired(t0 + 1s));
  Departed unconfirmed = ended(Departed::Kind::kClosed, 1s);
  for (int i = 0; i < 32; ++i)
    frames_at(unconfirmed, t0 + i * 6ms, arena);
  CHECK(frames_at(unconfirmed, t0 + 900ms, arena) == 0);
  unconfirmed.on_probe();
  CHECK(frames_at(unconfirmed, t0 + 900ms, arena) == 1);
  CHECK(unconfirmed.expired(t0 + 1s));
  Departed crossed = ended(Departed::Kind::kClosed, 1s);
  frames_at(crossed, t0, arena);
  crossed.on_frame(t0, FrameType::kClose);
  CHECK(frames_at(crossed, t0, arena) == 1);  // CLOSE_ACK
  crossed.on_probe();
  CHECK(frames_at(crossed, t0 + 1ms, arena) == 0);
}

TEST_CASE("two ends that close at the same time confirm each other") {
  FrameArena arena;
  Departed departed = ended(Departed::Kind::kClosed, 30s);
  CHECK_FALSE(departed.on_frame(t0, FrameType::kClose));
  CHECK_FALSE(departed.awaits_confirmation());
  arena.reset();
  Channel channel;
  FrameWriter frames(arena, channel);
  std::array<wire::TxPacket, 4> out;
  REQUIRE(departed.poll_transmit(frames, out) == 1);
  CHECK(wire::decode<wire::CloseAck>(out[0].payload));
}

TEST_CASE(
    "a failed connection sends RESET a few times and in answer to probes, but not to a RESET") {
  FrameArena arena;
  Departed departed = ended(Departed::Kind::kReset, 30s);
  CHECK_FALSE(departed.awaits_confirmation());
  std::size_t sent = 0;
  for (Time now = t0; now < t0 + 1s; now += 1ms)
    sent += frames_at(departed, now, arena);
  CHECK(sent == 4);
  CHECK_FALSE(departed.on_frame(t0 + 2s, FrameType::kData));
  arena.reset();
  Channel channel;
  FrameWriter frames(arena, channel);
  std::array<wire::TxPacket, 4> out;
  REQUIRE(departed.poll_transmit(frames, out) == 1);
  CHECK(wire::decode<wire::Reset>(out[0].payload)->reason == "went away");
  CHECK(departed.on_frame(t0 + 2s, FrameType::kReset));
}

TEST_CASE("every second refusal goes without marks, which the network may drop") {
  FrameArena arena;
  Departed departed = ended(Departed::Kind::kRefused, 1s);
  Channel channel;
  FrameWriter frames(arena, channel);
  for (int i = 0; i < 4; ++i) {
    arena.reset();
    departed.on_timeout(t0 + i * 6ms);
    std::array<wire::TxPacket, 4> out;
    REQUIRE(departed.poll_transmit(frames, out) == 1);
    CHECK(out[0].unmarked == (i % 2 == 1));
  }
}
