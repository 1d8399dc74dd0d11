#include "core/congestion/queue/delay_filter.h"

#include <algorithm>

#include "catch.h"
#include "util/rng.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {

constexpr Duration kRound = 1ms;

struct Delays {
  void add(Duration sample, int times = 1) {
    for (int i = 0; i < times; ++i)
      base.add(now += kRound, sample, kRound);
  }
  BaseDelay base;
  Time now = time_from_ns(0);
};

}  // namespace

TEST_CASE("one sample that is too small does not lower the base delay, a second does") {
  Delays d;
  d.add(200us, 8);
  d.add(1us);
  CHECK(d.base.value() == 200us);
  d.add(150us);
  CHECK(d.base.value() == 150us);
}

TEST_CASE("two wrong samples eight apart count as single ones") {
  Delays d;
  d.add(200us, 8);
  d.add(1us);
  d.add(200us, 7);
  d.add(1us);
  CHECK(d.base.value() == 200us);
}

TEST_CASE("before the eighth sample the base delay is not taken to be below the first") {
  Delays d;
  d.add(200us);
  d.add(1us, 6);
  CHECK(d.base.value() == 200us);
  d.add(100us);
  CHECK(d.base.value() == 1us);
}

TEST_CASE("a larger base delay is accepted after two epochs at the latest") {
  Delays d;
  d.add(200us, 8);
  d.add(300us, 499);  // an epoch lasts at least half a second
  CHECK(d.base.value() == 200us);
  d.add(300us, 500);
  CHECK(d.base.value() == 300us);
}

TEST_CASE("a restarted base delay discards earlier samples") {
  Delays d;
  d.add(200us, 8);
  d.base.restart(2ms);
  d.add(2ms, 8);
  CHECK(d.base.value() == 2ms);
}

TEST_CASE(
    "the mean step is a third of the width for uniform jitter, and zero for a constant delay") {
  MeanStep uniform;
  MeanStep none;
  Rng rng(1);
  double sum = 0;
  for (int i = 0; i < 4000; ++i) {
    uniform.add(1ms + Duration(static_cast<std::int64_t>(rng.unit() * 90e3)));
    if (i >= 1000) sum += static_cast<double>(uniform.value().count()) / 3000;
    none.add(i < 10 ? 1ms : 5ms);
  }
  CHECK(sum == Approx(30e3).epsilon(0.05));
  CHECK(none.value() < 100ns);
}

TEST_CASE("the spread is half of the width for uniform jitter, and zero for a standing queue") {
  DelaySpread uniform;
  DelaySpread none;
  Rng rng(1);
  for (int round = 0; round < 100; ++round) {
    Duration sum{0};
    Duration smallest = Duration::max();
    for (int i = 0; i < 64; ++i) {
      const Duration sample = 1ms + Duration(static_cast<std::int64_t>(rng.unit() * 90e3));
      sum += sample;
      smallest = std::min(smallest, sample);
    }
    uniform.add(64, sum, smallest);
    const Duration standing = round < 10 ? 1ms : 5ms;
    none.add(64, 64 * standing, standing);
  }
  CHECK(static_cast<double>(uniform.value().count()) == Approx(45e3).epsilon(0.1));
  CHECK(none.value() == 0ns);
}

TEST_CASE("rounds with a single sample are combined for the spread") {
  DelaySpread spread;
  for (int round = 0; round < 400; ++round) {
    if (round < 7) CHECK(spread.value() == 0ns);
    const Duration sample = round % 2 == 0 ? 1ms : 1080us;
    spread.add(1, sample, sample);
  }
  CHECK(static_cast<double>(spread.value().count()) == Approx(40e3).epsilon(0.01));
}

TEST_CASE("the emptiest round counts for at least eight rounds and at most sixteen") {
  QuietDelay quiet;
  CHECK(quiet.value() == Duration::max());
  for (int i = 0; i < 7; ++i)
    quiet.add(300us);
  quiet.add(200us);  // the eighth sample
  for (int i = 0; i < 8; ++i)
    quiet.add(300us);
  CHECK(quiet.value() == 200us);
  quiet.add(300us);
  CHECK(quiet.value() == 300us);
  quiet.restart();
  quiet.add(400us);
  CHECK(quiet.value() == 400us);
}

TEST_CASE(
    "the answers' waiting time is the excess of a few consecutive ones over the emptiest round") {
  AnswerWait answers;
  const Duration apart = GENERATE(0ns, -3s, 7s);  // offset between the hosts' clocks
  const auto play = [&](Duration each) {
    Duration last{0};
    for (int i = 0; i < 5; ++i)
      last = answers.wait_of(apart + each);
    answers.end_round();
    return last;
  };
  CHECK(play(300us) == 0ns);
  CHECK(play(300us) == 0ns);
  SECTION("a queue delays all of them") {
    for (int i = 0; i < 3; ++i)
      CHECK(answers.wait_of(apart + 500us) == 0ns);
    CHECK(answers.wait_of(apart + 500us) == 200us);
    CHECK(answers.wait_of(apart + 400us) == 100us);
    answers.end_round();
    // After sixteen rounds the queue counts as part of the path.
    for (int i = 0; i < 14; ++i)
      CHECK(play(500us) == 200us);
    play(500us);
    CHECK(play(500us) == 0ns);
  }
  SECTION("jitter delays single answers") {
    for (int i = 0; i < 40; ++i)
      CHECK(answers.wait_of(apart + (i % 4 == 0 ? 300us : 900us)) == 0ns);
  }
  SECTION("clocks that drift apart by 100 ppm cause no relevant error") {
    // Rounds of 1 ms.
    for (int i = 0; i < 1000; ++i)
      CHECK(play(300us + i * 100ns) <= 16 * 100ns);
  }
}
