// When a peer is asked, at the exact boundaries.
#include "core/probe_clock.h"

#include <utility>
#include <vector>

#include "catch.h"

using namespace dlcp;
using core::ProbeClock;

namespace {

constexpr Time kStart = time_from_ns(1'000'000'000);
constexpr ProbeClock::Terms kInFlight{.answer_time = 10ms, .outstanding = true};
constexpr ProbeClock::Terms kWaiting{.answer_time = 10ms, .outstanding = false};

// The pauses before each of the next `count` questions; `answered` says whether each gets one.
std::vector<Duration> pauses(ProbeClock& clock, Time from, const ProbeClock::Terms& terms,
                             std::size_t count, bool answered) {
  std::vector<Duration> all;
  clock.run(from, terms);
  while (all.size() < count) {
    const Time at = clock.next_timeout();
    REQUIRE_FALSE(clock.on_timeout(at - 1ns, terms));
    REQUIRE(clock.on_timeout(at, terms));
    all.push_back(at - std::exchange(from, at));
    while (clock.due() > 0)
      clock.on_sent();
    if (answered) clock.on_answer();
  }
  return all;
}

}  // namespace

TEST_CASE("a clock that does not run asks nothing") {
  ProbeClock clock(30s);
  REQUIRE(clock.next_timeout() == kNever);
  REQUIRE_FALSE(clock.on_timeout(kStart, kInFlight));
  clock.run(kStart, kInFlight);
  clock.stop();
  REQUIRE(clock.next_timeout() == kNever);
}

TEST_CASE(
    "with packets in flight three questions come quickly, then ever more slowly up to 200 ms") {
  ProbeClock clock(30s);
  REQUIRE(pauses(clock, kStart, kInFlight, 9, false) ==
          std::vector<Duration>{10ms, 10ms, 10ms, 10ms, 20ms, 40ms, 80ms, 160ms, 200ms});
}

TEST_CASE("questions that are answered and bring nothing back off as well") {
  ProbeClock clock(30s);
  REQUIRE(pauses(clock, kStart, kInFlight, 9, true) ==
          std::vector<Duration>{10ms, 10ms, 10ms, 10ms, 20ms, 40ms, 80ms, 160ms, 200ms});
  REQUIRE(clock.unanswered() == 0);
  REQUIRE(clock.fruitless() == 9);
}

TEST_CASE("with nothing in flight every question waits twice as long, up to a second") {
  ProbeClock clock(30s);
  REQUIRE(pauses(clock, kStart, kWaiting, 9, true) ==
          std::vector<Duration>{10ms, 20ms, 40ms, 80ms, 160ms, 320ms, 640ms, 1s, 1s});
}

TEST_CASE("progress makes the next questions quick again") {
  ProbeClock clock(30s);
  pauses(clock, kStart, kInFlight, 9, true);
  clock.on_progress();
  REQUIRE(clock.next_timeout() == kNever);
  REQUIRE(pauses(clock, kStart + 1h, kInFlight, 2, true) == std::vector<Duration>{10ms, 10ms});
}

TEST_CASE("no pause is longer than a quarter of the peer time-out, whatever an answer takes") {
  ProbeClock clock(200ms);
  REQUIRE(pauses(clock, kStart, kWaiting, 5, true) ==
          std::vector<Duration>{10ms, 20ms, 40ms, 50ms, 50ms});
  ProbeClock slow(200ms);
  REQUIRE(pauses(slow, kStart, {.answer_time = 90ms, .outstanding = true}, 5, false).back() ==
          50ms);
}

TEST_CASE("no question follows the other in less than a millisecond") {
  ProbeClock clock(30s);
  REQUIRE(pauses(clock, kStart, {.answer_time = 20us, .outstanding = true}, 1, false).front() ==
          1ms);
}

TEST_CASE("one question, then two, then four at a time; one again after an answer") {
  ProbeClock clock(30s);
  std::vector<unsigned> together;
  clock.run(kStart, kInFlight);
  for (int asked = 0; asked < 4; ++asked) {
    clock.on_timeout(clock.next_timeout(), kInFlight);
    together.push_back(clock.due());
    while (clock.due() > 0)
      clock.on_sent();
  }
  REQUIRE(together == std::vector<unsigned>{1, 2, 4, 4});
  clock.on_answer();
  clock.on_timeout(clock.next_timeout(), kInFlight);
  REQUIRE(clock.due() == 1);
}
