// Measures how long ranks have made no progress. A long gap between two looks does not count: the
// whole machine was stopped then, for example for a snapshot.
#pragma once

#include <algorithm>
#include <cstdint>

namespace dlcp::cli {

class Silence {
 public:
  // `now`: nanoseconds of a monotonic clock. Call look() ten times a second or more.
  explicit Silence(std::int64_t now) : active_at_(now), looked_at_(now) {}

  // `activity`: a count that changes whenever a rank makes progress. Returns the nanoseconds since
  // the last progress.
  std::int64_t look(std::int64_t now, std::uint64_t activity) {
    if (now - looked_at_ > kFrozen) active_at_ = std::min(now, active_at_ + now - looked_at_);
    looked_at_ = now;
    if (activity != activity_) active_at_ = now;
    activity_ = activity;
    return now - active_at_;
  }
  // Progress that the count does not show.
  void broken(std::int64_t now) { active_at_ = now; }

 private:
  static constexpr std::int64_t kFrozen = 1'000'000'000;

  std::int64_t active_at_;
  std::int64_t looked_at_;
  std::uint64_t activity_ = 0;
};

}  // namespace dlcp::cli
