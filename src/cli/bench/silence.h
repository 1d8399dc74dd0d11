// How long ranks have done nothing. Who was stopped together with them, as by a snapshot of the
// machine, cannot call that their silence: time between two looks that lie far apart does not
// count.
#pragma once

#include <algorithm>
#include <cstdint>

namespace dlcp::cli {

class Silence {
 public:
  // Nanoseconds, of any clock that does not jump; whoever waits looks ten times a second or more.
  explicit Silence(std::int64_t now) : active_at_(now), looked_at_(now) {}

  // `activity`: a count that moves whenever a rank does something. Nanoseconds of silence until
  // now.
  std::int64_t look(std::int64_t now, std::uint64_t activity) {
    if (now - looked_at_ > kFrozen) active_at_ = std::min(now, active_at_ + now - looked_at_);
    looked_at_ = now;
    if (activity != activity_) active_at_ = now;
    activity_ = activity;
    return now - active_at_;
  }
  // A sign of life that no count tells of.
  void broken(std::int64_t now) { active_at_ = now; }

 private:
  static constexpr std::int64_t kFrozen = 1'000'000'000;

  std::int64_t active_at_;
  std::int64_t looked_at_;
  std::uint64_t activity_ = 0;
};

}  // namespace dlcp::cli
