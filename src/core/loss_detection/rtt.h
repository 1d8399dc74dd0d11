// RTT estimate as in RFC 6298 (gains 1/8 and 1/4).
#pragma once

#include <algorithm>
#include <utility>

#include "util/time.h"

namespace dlcp::core {

// Taken for the RTT, or for the time that an answer takes, where nothing is known of the path.
inline constexpr Duration kUnknownRoundTrip = std::chrono::milliseconds(1);

class RttEstimator {
 public:
  void add(Duration sample) {
    sample = std::max(sample, Duration(1));
    newest_shortest_ = std::min(newest_shortest_, sample);
    if (++samples_ % kShortestOf == 0) shortest_ = std::exchange(newest_shortest_, Duration::max());
    newest_ = sample;
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
  // Of the last 64 to 128 samples: the nearest to what the network alone takes, because the others
  // also contain the time for which a busy process left packets unread. `fallback` until the first
  // sample.
  Duration shortest_or(Duration fallback) const {
    return has_sample() ? std::min(shortest_, newest_shortest_) : fallback;
  }

  // The newest sample is far below the estimate. The path has paused (flow control of Ethernet, a
  // link that retrains, a frozen virtual machine), and the packets that waited have raised the
  // estimate. It falls by an eighth with each sample, and a sender that follows it gets few
  // samples. recent_or() is the RTT to send at meanwhile.
  bool has_fallen() const { return kFarBelow * newest_ < smoothed_; }
  Duration recent_or(Duration fallback) const {
    return has_sample() ? std::min(smoothed_, kFarBelow * newest_) : fallback;
  }

  // The time within which an answer normally arrives; `fallback` until the first sample.
  Duration answer_time_or(Duration fallback = kUnknownRoundTrip) const {
    return has_sample() ? smoothed_ + 4 * variation_ : fallback;
  }
  // `fallback` until the first sample.
  Duration smoothed_or(Duration fallback = kUnknownRoundTrip) const {
    return has_sample() ? smoothed_ : fallback;
  }

 private:
  static constexpr int kFarBelow = 16;  // more than jitter does

  Duration newest_{0};
  Duration smoothed_{0};
  Duration variation_{0};
  static constexpr unsigned kShortestOf = 64;
  unsigned samples_ = 0;
  Duration shortest_ = Duration::max();         // of the last complete 64 samples
  Duration newest_shortest_ = Duration::max();  // of the samples since then
};

}  // namespace dlcp::core
