#include "datapath/sim/timeline/timeline.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "util/rng.h"

namespace {

using namespace dlcp;
using Timeline = datapath::sim::Timeline<std::unique_ptr<int>>;

// Records events, and may schedule more while one runs.
struct Diary final : Timeline::Sink {
  void on_event(Time now, std::unique_ptr<int> item) override {
    happened.emplace_back(ns_of(now), *item);
    if (more) more(now);
  }
  std::vector<std::pair<std::int64_t, int>> happened;
  std::function<void(Time)> more;
};

// Distances from zero to beyond the near events' span, and around its edge.
std::int64_t distance(Rng& rng) {
  constexpr std::int64_t kNear = datapath::sim::NearEvents<int>::kSpan;
  switch (rng.below(6)) {
    case 0:
      return 0;
    case 1:
      return static_cast<std::int64_t>(rng.below(4));
    case 2:
      return static_cast<std::int64_t>(rng.below(2'000));
    case 3:
      return kNear - 2 + static_cast<std::int64_t>(rng.below(4));
    case 4:
      return static_cast<std::int64_t>(rng.below(100'000));
    default:
      return static_cast<std::int64_t>(rng.below(10'000'000));
  }
}

}  // namespace

TEST_CASE("events run in order of time, and those of one instant in the order of scheduling") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Rng rng(seed);
    Timeline timeline;
    Diary diary;
    std::vector<std::pair<std::int64_t, int>> expected;
    const auto schedule = [&] {
      const std::int64_t at = ns_of(timeline.now()) + distance(rng);
      const int number = static_cast<int>(expected.size());
      expected.emplace_back(at, number);
      timeline.schedule(time_from_ns(at), diary, std::make_unique<int>(number));
    };
    diary.more = [&](Time) {
      for (std::uint64_t i = rng.below(3); i > 0 && expected.size() < 5'000; --i)
        schedule();
    };
    for (int i = 0; i < 100; ++i)
      schedule();
    while (timeline.pending() > 0) {
      if (rng.chance(0.1)) {
        const Time until = timeline.now() + Duration(distance(rng));
        timeline.run_until(until);
        REQUIRE(timeline.now() == until);
        REQUIRE((timeline.pending() == 0 || timeline.next() > until));
        schedule();
      } else {
        const Time next = timeline.next();
        REQUIRE(timeline.run_next());
        REQUIRE(timeline.now() == next);
      }
      if (expected.size() >= 5'000 && rng.chance(0.01)) break;
    }
    timeline.run_until(kNever);
    std::ranges::stable_sort(expected, {}, &std::pair<std::int64_t, int>::first);
    REQUIRE(diary.happened == expected);
    REQUIRE(timeline.scheduled() == expected.size());
  }
}

TEST_CASE("no event runs after the given moment, and a moment in the past means now") {
  Timeline timeline;
  Diary diary;
  CHECK(timeline.next() == kNever);
  CHECK_FALSE(timeline.run_next());
  timeline.schedule(time_from_ns(1'000'000), diary, std::make_unique<int>(1));
  CHECK_FALSE(timeline.run_next(time_from_ns(999'999)));
  CHECK(timeline.now() == Time{});
  CHECK(timeline.run_next(time_from_ns(1'000'000)));
  timeline.schedule(time_from_ns(5), diary, std::make_unique<int>(2));
  CHECK(timeline.next() == time_from_ns(1'000'000));
  CHECK(timeline.run_next());
  CHECK(diary.happened ==
        std::vector<std::pair<std::int64_t, int>>{{1'000'000, 1}, {1'000'000, 2}});
}
