#include "catch.h"
#include "util/statistics/duration_histogram.h"

using namespace dlcp;

TEST_CASE("percentiles of durations are at most an eighth too high, over all magnitudes") {
  for (const std::int64_t us : {0, 1, 7, 8, 9, 100, 12345, 1'000'000, 40'000'000}) {
    DurationHistogram histogram;
    histogram.add(std::chrono::microseconds(us));
    const auto seen =
        std::chrono::duration_cast<std::chrono::microseconds>(histogram.percentile(0.5)).count();
    INFO(us << " us seen as " << seen);
    CHECK(seen > us);
    CHECK(seen <= us + us / 8 + 1);
  }
}

TEST_CASE("percentiles of a mixture change where its parts meet") {
  DurationHistogram fast, all;
  CHECK(fast.percentile(0.99) == Duration(0));
  for (int i = 0; i < 990; ++i)
    fast.add(100us);
  for (int i = 0; i < 10; ++i)
    all.add(50ms);
  all.add(Duration(-5));  // a clock that stepped back counts as zero time
  all.merge(fast);
  CHECK(all.count() == 1001);
  CHECK(all.percentile(0.5) < 120us);
  CHECK(all.percentile(0.98) < 120us);
  CHECK(all.percentile(0.999) >= 50ms);
}

TEST_CASE("values beyond the last bucket count in the last bucket") {
  DurationHistogram histogram;
  histogram.add(std::chrono::hours(5));
  CHECK(histogram.count() == 1);
  CHECK(histogram.percentile(1) > 60s);
}

TEST_CASE("sums and counts below powers of two are exact") {
  DurationHistogram histogram;
  for (const int us : {0, 1, 2, 1023, 1024, 1025, 5'000'000})
    histogram.add(std::chrono::microseconds(us));
  CHECK(histogram.sum() == std::chrono::microseconds(5'003'075));
  CHECK(histogram.count_below_power(0) == 1);
  CHECK(histogram.count_below_power(1) == 2);
  CHECK(histogram.count_below_power(10) == 4);
  CHECK(histogram.count_below_power(11) == 6);
  CHECK(histogram.count_below_power(26) == histogram.count());
  DurationHistogram twice = histogram;
  twice.merge(histogram);
  CHECK(twice.sum() == 2 * histogram.sum());
}
