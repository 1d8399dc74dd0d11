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

TEST_CASE("one sample that is too small does not move the base delay, a second does") {
  Delays d;
  d.add(200us, 8);
  d.add(1us);
  CHECK(d.base.value() == 200us);
  d.add(150us);
  CHECK(d.base.value() == 150us);
}

TEST_CASE("two wrong samples that are eight apart are single ones") {
  Delays d;
  d.add(200us, 8);
  d.add(1us);
  d.add(200us, 7);
  d.add(1us);
  CHECK(d.base.value() == 200us);
}

TEST_CASE("before eight samples are there the base delay is not judged to be below the first") {
  Delays d;
  d.add(200us);
  d.add(1us, 6);
  CHECK(d.base.value() == 200us);
  d.add(100us);
  CHECK(d.base.value() == 1us);
}

TEST_CASE("a base delay that has grown is believed after two epochs at the latest") {
  Delays d;
  d.add(200us, 8);
  d.add(300us, 499);  // an epoch lasts at least half a second
  CHECK(d.base.value() == 200us);
  d.add(300us, 500);
  CHECK(d.base.value() == 300us);
}

TEST_CASE("a restarted base delay forgets what was") {
  Delays d;
  d.add(200us, 8);
  d.base.restart(2ms);
  d.add(2ms, 8);
  CHECK(d.base.value() == 2ms);
}

TEST_CASE("the mean step of uniform jitter is a third of its width, of a standing delay nothing") {
  MeanStep uniform(16);
  MeanStep none(16);
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

TEST_CASE("the spread of uniform jitter is half of its width, of a standing queue nothing") {
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

TEST_CASE("rounds of a single sample are taken together for the spread") {
  DelaySpread spread;
  for (int round = 0; round < 400; ++round) {
    if (round < 7) CHECK(spread.value() == 0ns);
    const Duration sample = round % 2 == 0 ? 1ms : 1080us;
    spread.add(1, sample, sample);
  }
  CHECK(static_cast<double>(spread.value().count()) == Approx(40e3).epsilon(0.01));
}

TEST_CASE("the emptiest round counts for eight rounds at least and for sixteen at most") {
  QuietDelay quiet;
  CHECK(quiet.value() == Duration::max());
  for (int i = 0; i < 7; ++i)
    quiet.add(300us);
  quiet.add(200us);  // the eighth
  for (int i = 0; i < 8; ++i)
    quiet.add(300us);
  CHECK(quiet.value() == 200us);
  quiet.add(300us);
  CHECK(quiet.value() == 300us);
  quiet.restart();
  quiet.add(400us);
  CHECK(quiet.value() == 400us);
}

TEST_CASE("what answers wait for is what a few in a row took beyond the emptiest round") {
  AnswerWait answers;
  const Duration apart = GENERATE(0ns, -3s, 7s);  // of the hosts' clocks
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
    // It has stood for sixteen rounds: then it is the way.
    for (int i = 0; i < 14; ++i)
      CHECK(play(500us) == 200us);
    play(500us);
    CHECK(play(500us) == 0ns);
  }
  SECTION("jitter delays single ones") {
    for (int i = 0; i < 40; ++i)
      CHECK(answers.wait_of(apart + (i % 4 == 0 ? 300us : 900us)) == 0ns);
  }
  SECTION("clocks that drift apart by 100 ppm change nothing that matters") {
    // Rounds of 1 ms.
    for (int i = 0; i < 1000; ++i)
      CHECK(play(300us + i * 100ns) <= 16 * 100ns);
  }
}
