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
  // How long the handshake took.
  void expect(Duration handshake) { expected_ = std::min(handshake, Duration::max() / kMost); }
  void add(Duration sample) {
    sample = std::max(sample, Duration(1));
    newest_shortest_ = std::min(newest_shortest_, sample);
    if (++samples_ % kShortestOf == 0) shortest_ = std::exchange(newest_shortest_, Duration::max());
    sample =
        std::min(sample, kMost * (has_sample() ? smoothed_ : std::max(expected_, Duration(1))));
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

  // The time within which an answer normally arrives; `fallback` until the first sample.
  Duration answer_time_or(Duration fallback = kUnknownRoundTrip) const {
    return has_sample() ? smoothed_ + 4 * variation_ : fallback;
  }
  // `fallback` until the first sample.
  Duration smoothed_or(Duration fallback = kUnknownRoundTrip) const {
    return has_sample() ? smoothed_ : fallback;
  }

 private:
  // A longer sample counts as this many times the estimate. After a pause of the path (flow control
  // of Ethernet, a link that retrains), each packet that it held reports the length of the pause,
  // and the sender would fit its pace to that.
  static constexpr int kMost = 2;

  Duration expected_ = Duration::max() / kMost;  // until the first sample
  Duration smoothed_{0};
  Duration variation_{0};
  static constexpr unsigned kShortestOf = 64;
  unsigned samples_ = 0;
  Duration shortest_ = Duration::max();         // of the last complete 64 samples
  Duration newest_shortest_ = Duration::max();  // of the samples since then
};

}  // namespace dlcp::core
