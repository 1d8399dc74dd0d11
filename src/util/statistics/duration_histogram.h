// Durations counted in buckets of 1/8 of their value, 1 us to 69 s. It has a fixed size and no
// pointers, so that it can be in shared memory. Percentiles are exact to 12%.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "util/statistics/log_buckets.h"
#include "util/time.h"

namespace dlcp {

class DurationHistogram {
 public:
  void add(Duration duration) {
    const auto us = static_cast<std::uint64_t>(std::max<std::int64_t>(duration.count() / 1000, 0));
    ++counts_[std::min(Buckets::index(us), kBuckets - 1)];
    sum_us_ += us;
  }
  void merge(const DurationHistogram& other) {
    for (std::size_t i = 0; i < kBuckets; ++i)
      counts_[i] += other.counts_[i];
    sum_us_ += other.sum_us_;
  }
  std::uint64_t count() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : counts_)
      sum += count;
    return sum;
  }
  // Sum of all durations, each rounded down to a microsecond.
  Duration sum() const { return std::chrono::microseconds(static_cast<std::int64_t>(sum_us_)); }
  // Number of durations shorter than 2^power microseconds; exact, because a bucket ends there.
  // `power` is at most kPowersMax; longer durations are not distinguished.
  static constexpr unsigned kPowersMax = 26;
  std::uint64_t count_below_power(unsigned power) const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < Buckets::index(std::uint64_t{1} << power); ++i)
      sum += counts_[i];
    return sum;
  }
  // The end of the bucket below which `share` (0..1] of the durations are; 0 if there are none.
  Duration percentile(double share) const {
    const double wanted = share * static_cast<double>(count());
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < kBuckets; ++i) {
      seen += counts_[i];
      if (seen > 0 && static_cast<double>(seen) >= wanted)
        return std::chrono::microseconds(Buckets::last(i) + 1);
    }
    return Duration(0);
  }

 private:
  using Buckets = LogBuckets<3>;
  static constexpr std::size_t kBuckets = Buckets::count(kPowersMax);

  std::array<std::uint64_t, kBuckets> counts_{};
  std::uint64_t sum_us_ = 0;
};

}  // namespace dlcp
