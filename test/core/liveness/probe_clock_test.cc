// When a peer is probed, at exact boundaries.
#include "core/liveness/probe_clock.h"

#include <utility>
#include <vector>

#include "catch.h"

using namespace dlcp;
using core::ProbeClock;

namespace {

constexpr Time kStart = time_from_ns(1'000'000'000);
constexpr ProbeClock::Terms kInFlight{.answer_time = 10ms, .outstanding = true};
constexpr ProbeClock::Terms kWaiting{.answer_time = 10ms, .outstanding = false};

// The intervals before each of the next `count` probes; `answered`: whether each is answered.
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

TEST_CASE("a stopped clock sends no probe") {
  ProbeClock clock(30s);
  REQUIRE(clock.next_timeout() == kNever);
  REQUIRE_FALSE(clock.on_timeout(kStart, kInFlight));
  clock.run(kStart, kInFlight);
  clock.stop();
  REQUIRE(clock.next_timeout() == kNever);
}

TEST_CASE(
    "with packets in flight three probes follow quickly, then at doubling intervals up to 200 ms") {
  ProbeClock clock(30s);
  REQUIRE(pauses(clock, kStart, kInFlight, 9, false) ==
          std::vector<Duration>{10ms, 10ms, 10ms, 10ms, 20ms, 40ms, 80ms, 160ms, 200ms});
}

TEST_CASE("probes that are answered without progress back off as well") {
  ProbeClock clock(30s);
  REQUIRE(pauses(clock, kStart, kInFlight, 9, true) ==
          std::vector<Duration>{10ms, 10ms, 10ms, 10ms, 20ms, 40ms, 80ms, 160ms, 200ms});
  REQUIRE(clock.unanswered() == 0);
  REQUIRE(clock.fruitless() == 9);
}

TEST_CASE("with nothing in flight every interval doubles, up to a second") {
  ProbeClock clock(30s);
  REQUIRE(pauses(clock, kStart, kWaiting, 9, true) ==
          std::vector<Duration>{10ms, 20ms, 40ms, 80ms, 160ms, 320ms, 640ms, 1s, 1s});
}

TEST_CASE("with nothing in flight and no answer the intervals double up to a 16th of the timeout") {
  ProbeClock clock(30s);
  constexpr ProbeClock::Terms kTerms{.answer_time = 20ms, .seldom = 60ms};
  REQUIRE(pauses(clock, kStart, kTerms, 9, false) ==
          std::vector<Duration>{20ms, 40ms, 80ms, 160ms, 320ms, 640ms, 1280ms, 1875ms, 1875ms});
  const Time now = clock.next_timeout() - 1875ms;
  clock.on_answer();
  REQUIRE(pauses(clock, now, kTerms, 3, true) == std::vector<Duration>{1875ms, 60ms, 60ms});
}

TEST_CASE("progress makes the next probes quick again") {
  ProbeClock clock(30s);
  pauses(clock, kStart, kInFlight, 9, true);
  clock.on_progress();
  REQUIRE(clock.next_timeout() == kNever);
  REQUIRE(pauses(clock, kStart + 1h, kInFlight, 2, true) == std::vector<Duration>{10ms, 10ms});
}

TEST_CASE("no interval exceeds a quarter of the peer timeout, whatever an answer takes") {
  ProbeClock clock(200ms);
  REQUIRE(pauses(clock, kStart, kWaiting, 5, true) ==
          std::vector<Duration>{10ms, 20ms, 40ms, 50ms, 50ms});
  ProbeClock slow(200ms);
  REQUIRE(pauses(slow, kStart, {.answer_time = 90ms, .outstanding = true}, 5, false).back() ==
          50ms);
}

TEST_CASE("on a short path three early probes cover a lost tail; the next wait a millisecond") {
  const ProbeClock::Terms quick{.answer_time = 20us, .outstanding = true};
  ProbeClock clock(30s);
  REQUIRE(pauses(clock, kStart, quick, 5, false) ==
          std::vector<Duration>{100us, 200us, 400us, 1ms, 1ms});
  CHECK(clock.unanswered() == 2);  // a host that is busy for a while has not stalled
  CHECK(clock.fruitless() == 2);
  clock.on_progress();
  clock.on_answer();
  REQUIRE(pauses(clock, kStart + 1h, quick, 2, false) == std::vector<Duration>{100us, 200us});
}

TEST_CASE("early probes are sent in twos and fours, because one path may be dead") {
  const ProbeClock::Terms quick{.answer_time = 20us, .outstanding = true};
  ProbeClock clock(30s);
  std::vector<unsigned> together;
  clock.run(kStart, quick);
  for (int asked = 0; asked < 5; ++asked) {
    clock.on_timeout(clock.next_timeout(), quick);
    together.push_back(clock.due());
    while (clock.due() > 0)
      clock.on_sent();
  }
  REQUIRE(together == std::vector<unsigned>{2, 4, 4, 1, 2});
}

TEST_CASE("no second early probe follows if the first is answered without progress") {
  const ProbeClock::Terms quick{.answer_time = 20us, .outstanding = true};
  ProbeClock clock(30s);
  REQUIRE(pauses(clock, kStart, quick, 1, true) == std::vector<Duration>{100us});
  clock.postpone();  // everything in flight is lost, and sent again
  REQUIRE(pauses(clock, kStart + 1s, quick, 2, true) == std::vector<Duration>{1ms, 1ms});
  clock.on_progress();
  REQUIRE(pauses(clock, kStart + 1h, quick, 1, true) == std::vector<Duration>{100us});
}

TEST_CASE("early probes are sent when the answer to sent packets is late, and only then") {
  ProbeClock late(30s);
  REQUIRE(pauses(late, kStart, {.answer_time = 300us, .outstanding = true}, 4, false) ==
          std::vector<Duration>{300us, 600us, 1ms, 1ms});
  ProbeClock waiting(30s);  // waits for the peer's application: no need for early probes
  REQUIRE(pauses(waiting, kStart, {.answer_time = 20us}, 2, false) ==
          std::vector<Duration>{1ms, 2ms});
  ProbeClock longer(30s);
  REQUIRE(pauses(longer, kStart, {.answer_time = 1ms, .outstanding = true}, 2, false) ==
          std::vector<Duration>{1ms, 1ms});
  CHECK(longer.unanswered() == 2);
}

TEST_CASE("one probe, then two, then four at a time; one again after an answer") {
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

TEST_CASE("a retransmission is probed as early as a first transmission") {
  constexpr ProbeClock::Terms kTerms{.answer_time = 100us, .outstanding = true};
  ProbeClock clock(30s);
  clock.run(kStart, kTerms);
  REQUIRE(clock.next_timeout() == kStart + 100us);
  REQUIRE(clock.on_timeout(kStart + 100us, kTerms));
  clock.on_answer();  // without progress: the packets are slow
  clock.run(kStart + 150us, kTerms);
  CHECK(clock.next_timeout() == kStart + 150us + 1ms);
  clock.on_repair(kStart + 150us, kTerms);  // the answer has reported a hole
  CHECK(clock.next_timeout() == kStart + 250us);
  clock.on_repair(kStart + 200us, kTerms);  // another retransmission does not delay the probe
  CHECK(clock.next_timeout() == kStart + 250us);
}

TEST_CASE("probes that the datapath does not take are not unanswered ones") {
  ProbeClock clock(30s);
  clock.run(kStart, kInFlight);
  CHECK(clock.on_timeout(clock.next_timeout(), kInFlight));
  for (int i = 0; i < 10; ++i)
    CHECK_FALSE(clock.on_timeout(clock.next_timeout(), kInFlight));
  CHECK(clock.unanswered() == 1);
  CHECK(clock.due() == 1);
  clock.on_sent();
  CHECK(clock.on_timeout(clock.next_timeout(), kInFlight));
  CHECK(clock.unanswered() == 2);
}

TEST_CASE("a packet that is lost every time is not probed early for ever") {
  constexpr ProbeClock::Terms kTerms{.answer_time = 100us, .outstanding = true};
  ProbeClock clock(30s);
  clock.run(kStart, kTerms);
  for (Time now = kStart; now < kStart + 1s; now = clock.next_timeout()) {
    clock.on_timeout(now, kTerms);
    while (clock.due() > 0)
      clock.on_sent();
    clock.on_answer();
    clock.on_repair(now, kTerms);
    clock.run(now, kTerms);
  }
  CHECK(clock.fruitless() > ProbeClock::kStalledAfter);
}

TEST_CASE("data that follows a long wait is probed for as early as other data") {
  ProbeClock fresh(30s);
  fresh.run(kStart, kInFlight);
  const Duration first = fresh.next_timeout() - kStart;

  ProbeClock waited(30s);
  (void)pauses(waited, kStart, kWaiting, 8, true);
  const Time now = waited.next_timeout() - 500ms;
  waited.run(now, kWaiting);
  CHECK(waited.next_timeout() == now + 500ms);
  waited.run(now, kInFlight);
  CHECK(waited.next_timeout() - now == first);
}
