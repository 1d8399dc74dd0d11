#include "core/liveness/ping_clock.h"

#include <utility>

#include "catch.h"

using namespace dlcp;
using core::PingClock;

namespace {

constexpr Time kStart = time_from_ns(1'000'000'000);

// Sends what is due, and returns its number.
unsigned send(PingClock& clock) {
  unsigned sent = 0;
  for (; clock.due() > 0; ++sent)
    clock.on_sent();
  return sent;
}

// The pause before the next PING after `from`.
Duration pause(PingClock& clock, Time from, Time since) {
  clock.run(from);
  const Time at = clock.next_timeout();
  REQUIRE(at != kNever);
  REQUIRE_FALSE(clock.on_timeout(at - 1ns, since));
  REQUIRE(clock.on_timeout(at, since));
  send(clock);
  return at - from;
}

}  // namespace

TEST_CASE("PINGs leave after 20 ms, and later every 60 ms while they are answered") {
  PingClock clock(30s);
  Time now = kStart;
  for (const Duration expected : {20ms, 40ms, 60ms, 60ms, 60ms}) {
    CHECK(pause(clock, now, kStart) == expected);
    now += expected;
    clock.on_pong(now, now);
  }
}

TEST_CASE("PINGs without an answer take several paths and grow rare, up to a 16th of the timeout") {
  PingClock clock(16s);
  Time now = kStart;
  for (int i = 0; i < 12; ++i)
    now += pause(clock, now, kStart);
  CHECK(pause(clock, now, kStart) == 1s);
  clock.run(now);
  REQUIRE(clock.on_timeout(clock.next_timeout(), kStart));
  CHECK(clock.due() == 4);
}

TEST_CASE("no PING leaves while every waiting stream receives data") {
  PingClock clock(30s);
  clock.run(kStart);
  CHECK_FALSE(clock.on_timeout(kStart + 20ms, kStart + 1ns));
  CHECK(clock.next_timeout() == kStart + 20ms + 1ns);
  CHECK(clock.on_timeout(kStart + 20ms + 1ns, kStart + 1ns));
  CHECK(clock.reports(kStart + 20ms, kStart));
  CHECK_FALSE(clock.reports(kStart + 20ms, kStart + 1ns));
}

TEST_CASE("the clock stops when no stream waits any more, and then starts again with 20 ms") {
  PingClock clock(30s);
  Time now = kStart;
  for (int i = 0; i < 4; ++i)
    now += pause(clock, now, kStart);
  clock.on_heard(now);
  CHECK_FALSE(clock.on_timeout(clock.next_timeout(), kNever));
  CHECK(clock.next_timeout() == kNever);
  CHECK(pause(clock, now + 1s, now + 1s) == 20ms);
}

TEST_CASE("no pause is shorter than four answers take, or than a 16th of the timeout") {
  PingClock clock(16s);
  Time now = kStart;
  for (const auto& [took, expected] :
       {std::pair(50ms, 200ms), std::pair(200ms, 800ms), std::pair(9000ms, 1000ms)}) {
    clock.on_pong(now, now - took);
    CHECK(clock.answer_time() == took);
    CHECK(pause(clock, now, kStart) >= expected);
    now = clock.next_timeout();
    CHECK_FALSE(clock.on_timeout(now, kNever));
  }
  clock.on_pong(now, now - 1ms);
  CHECK(clock.answer_time() == 20ms);
  CHECK(pause(clock, now, now) == 20ms);
}

TEST_CASE("doubt about the sender makes PING due at once, although data has just arrived") {
  PingClock clock(30s);
  clock.run(kStart);
  clock.on_heard(kStart + 5ms);
  CHECK(clock.heard_at() == kStart + 5ms);
  clock.doubt(kStart + 6ms);
  CHECK(clock.next_timeout() == kStart + 6ms);
  CHECK(clock.on_timeout(kStart + 6ms, kStart + 5ms));
  send(clock);
  CHECK_FALSE(clock.on_timeout(clock.next_timeout(), clock.next_timeout() - 1ms));
}
