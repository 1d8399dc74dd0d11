// RTT estimate as in RFC 6298 (gains 1/8 and 1/4).
#pragma once

#include <algorithm>

#include "util/time.h"

namespace dlcp::core {

class RttEstimator {
 public:
  void add(Duration sample) {
    sample = std::max(sample, Duration(1));
    shortest_ = std::min(shortest_, sample);
    if (!has_sample()) {
      smoothed_ = sample;
      variation_ = sample / 2;
      return;
    }
    const Duration error = sample > smoothed_ ? sample - smoothed_ : smoothed_ - sample;
    variation_ += (error - variation_) / 4;
    smoothed_ += (sample - smoothed_) / 8;
  }

  bool has_sample() const { return smoothed_ > Duration::zero(); }
  Duration smoothed() const { return smoothed_; }
  Duration variation() const { return variation_; }
  // Of the samples: the nearest to what the network alone takes, because the others also contain
  // the time for which a busy process left packets unread. Duration::max() until the first sample.
  Duration shortest() const { return shortest_; }

  // The time within which an answer normally arrives; `fallback` until the first sample.
  Duration answer_time_or(Duration fallback) const {
    return has_sample() ? smoothed_ + 4 * variation_ : fallback;
  }
  // `fallback` until the first sample.
  Duration smoothed_or(Duration fallback) const { return has_sample() ? smoothed_ : fallback; }

 private:
  Duration smoothed_{0};
  Duration variation_{0};
  Duration shortest_ = Duration::max();
};

}  // namespace dlcp::core
