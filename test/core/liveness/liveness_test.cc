// When a peer counts as dead: by silence or by missing progress, but never for time in which this
// process was paused.
#include "core/liveness/liveness.h"

#include "catch.h"

using namespace dlcp;
using core::Liveness;
using Owes = core::Liveness::Owes;
using Standing = core::Liveness::Standing;

namespace {

constexpr Duration kTimeout = 4s;
constexpr Time kStart = time_from_ns(1'000'000'000);

}  // namespace

TEST_CASE("a peer from which nothing is expected may stay silent for ever") {
  Liveness liveness(kTimeout);
  REQUIRE(liveness.deadline() == kNever);
  liveness.expect(kStart, Owes::kWord);
  liveness.expect(kStart + 1s, Owes::kNothing);
  REQUIRE(liveness.deadline() == kNever);
  REQUIRE(liveness.standing(kStart + 1h) == Standing::kAlive);
}

TEST_CASE("a peer that must answer counts as silent at the timeout, and not before") {
  Liveness liveness(kTimeout);
  liveness.expect(kStart, Owes::kWord);
  REQUIRE(liveness.deadline() == kStart + kTimeout);
  REQUIRE(liveness.standing(kStart + kTimeout - 1ns) == Standing::kAlive);
  REQUIRE(liveness.standing(kStart + kTimeout) == Standing::kSilent);
  liveness.on_heard(kStart + 1s);
  REQUIRE(liveness.standing(kStart + 1s + kTimeout - 1ns) == Standing::kAlive);
  REQUIRE(liveness.standing(kStart + 1s + kTimeout) == Standing::kSilent);
}

TEST_CASE("packets received before anything was expected do not shorten the timeout") {
  Liveness liveness(kTimeout);
  liveness.on_heard(kStart);
  liveness.expect(kStart + 1min, Owes::kWord);
  REQUIRE(liveness.deadline() == kStart + 1min + kTimeout);
}

TEST_CASE("a peer that must only answer may do so for ever without progress") {
  Liveness liveness(kTimeout);
  liveness.expect(kStart, Owes::kWord);
  for (int second = 0; second < 100; ++second) {
    REQUIRE(liveness.standing(kStart + second * 1s) == Standing::kAlive);
    liveness.on_heard(kStart + second * 1s);
  }
}

TEST_CASE("a peer that must make progress but only answers counts as stuck at the timeout") {
  Liveness liveness(kTimeout);
  liveness.expect(kStart, Owes::kProgress);
  liveness.on_heard(kStart + kTimeout - 1ns);
  REQUIRE(liveness.standing(kStart + kTimeout - 1ns) == Standing::kAlive);
  REQUIRE(liveness.deadline() == kStart + kTimeout);
  REQUIRE(liveness.standing(kStart + kTimeout) == Standing::kStuck);
}

TEST_CASE("progress, or a report that no buffer is posted, restarts the timeout") {
  Liveness liveness(kTimeout);
  liveness.expect(kStart, Owes::kProgress);
  liveness.on_progress(kStart + 3s);
  REQUIRE(liveness.deadline() == kStart + 3s + kTimeout);
  liveness.expect(kStart + 4s, Owes::kWord);  // the next message has no buffer yet
  liveness.on_heard(kStart + 1min);
  liveness.expect(kStart + 1min, Owes::kProgress);
  REQUIRE(liveness.deadline() == kStart + 1min + kTimeout);
}

TEST_CASE("repeating an expectation does not restart its timeout") {
  Liveness liveness(kTimeout);
  liveness.expect(kStart, Owes::kProgress);
  liveness.expect(kStart + 3s, Owes::kProgress);
  REQUIRE(liveness.deadline() == kStart + kTimeout);
}

TEST_CASE("time in which this process did not run does not count") {
  Liveness liveness(kTimeout);
  liveness.expect(kStart, Owes::kProgress);
  const Time woken = kStart + 1s + 40s;
  liveness.on_pause(woken, 40s);
  REQUIRE(liveness.deadline() == woken + kTimeout - 1s);
  REQUIRE(liveness.standing(woken + kTimeout - 1s) == Standing::kSilent);
}

TEST_CASE("after a pause the peer has a quarter of the timeout to answer") {
  Liveness liveness(kTimeout);
  liveness.expect(kStart, Owes::kWord);
  const Time woken = kStart + kTimeout - 1ns + 40s;
  liveness.on_pause(woken, 40s);
  REQUIRE(liveness.deadline() == woken + kTimeout / 4);
}

TEST_CASE("a pause does not change the arrival time of packets received on waking") {
  Liveness liveness(kTimeout);
  liveness.expect(kStart, Owes::kWord);
  const Time woken = kStart + 40s;
  liveness.on_heard(woken);
  liveness.on_pause(woken, 40s);
  REQUIRE(liveness.deadline() == woken + kTimeout);
}

TEST_CASE("a peer whose host refuses packets counts as gone if it does not answer in time") {
  Liveness liveness(kTimeout);
  REQUIRE_FALSE(liveness.on_refused(kStart, 1ms));  // nothing is expected of it
  liveness.expect(kStart, Owes::kWord);
  REQUIRE(liveness.on_refused(kStart + 1s, 1ms));
  REQUIRE_FALSE(liveness.on_refused(kStart + 1s + 10ms, 1ms));  // it was probed already
  REQUIRE(liveness.deadline() == kStart + 1s + 30ms);
  REQUIRE(liveness.standing(kStart + 1s + 30ms - 1ns) == Standing::kAlive);
  REQUIRE(liveness.standing(kStart + 1s + 30ms) == Standing::kGone);
}

TEST_CASE("where answers take long a refused peer gets three times as long") {
  Liveness liveness(kTimeout);
  liveness.expect(kStart, Owes::kProgress);
  REQUIRE(liveness.on_refused(kStart, 100ms));
  REQUIRE(liveness.deadline() == kStart + 300ms);
}

TEST_CASE(
    "a refused peer that answers is alive, and so is one from which nothing is expected any more") {
  Liveness liveness(kTimeout);
  liveness.expect(kStart, Owes::kWord);
  liveness.on_refused(kStart, 1ms);
  liveness.on_heard(kStart + 29ms);
  REQUIRE(liveness.standing(kStart + 1s) == Standing::kAlive);
  REQUIRE(liveness.on_refused(kStart + 1s, 1ms));
  liveness.on_heard(kStart + 1s);  // a frame from before the refusal, which proves nothing
  REQUIRE(liveness.standing(kStart + 1s + 30ms) == Standing::kGone);
  liveness.on_heard(kStart + 1s + 1ns);
  REQUIRE(liveness.standing(kStart + 1s + 30ms) == Standing::kAlive);
  liveness.on_refused(kStart + 1s, 1ms);
  liveness.expect(kStart + 1s, Owes::kNothing);
  REQUIRE(liveness.deadline() == kNever);
}
