// When broken queue pairs are repaired. The pause doubles while repairs follow each other: if the
// port is down, every packet breaks a queue pair again.
#pragma once

#include <algorithm>

#include "util/time.h"

namespace dlcp::datapath {

class RepairPause {
 public:
  bool is_over(Time now) const { return now >= until_; }
  // Queue pairs are repaired now.
  void start(Time now) {
    const bool calm = now - until_ > 10 * kMost;
    pause_ = calm ? kLeast : std::clamp(2 * pause_, kLeast, kMost);
    until_ = now + pause_;
  }

 private:
  static constexpr Duration kLeast = std::chrono::milliseconds(1);
  static constexpr Duration kMost = std::chrono::milliseconds(100);

  Time until_{};
  Duration pause_{};
};

}  // namespace dlcp::datapath
