// Spreads a window over a round trip: a burst may leave when the earlier ones have had their time.
#pragma once

#include <algorithm>

#include "core/loss_detection/rtt.h"
#include "util/time.h"

namespace dlcp::core {

class Pacer {
 public:
  // Time that one packet takes: somewhat less than its share of the round trip, so that the window
  // is what limits, and still less in slow start, which doubles it.
  static Duration packet_time(Duration round_trip, double window, bool slow_start) {
    const double gain = slow_start ? kGainSlowStart : kGain;  // windows per round trip
    return std::chrono::duration_cast<Duration>(round_trip / (std::max(window, 0.05) * gain));
  }

  // Nothing is in flight. As with TCP (RFC 6928) a few packets then leave at once: over a long
  // round trip a short message must not be spread. Half of the window, so that one of a packet is
  // paced.
  void on_pause(double window) { free_ = static_cast<int>(std::min(window / 2, kFree)); }
  // An answer came back. Who has a packet or two in flight hears of the path only once for each,
  // and a smoothed round trip is long what it was in a crowd that has gone meanwhile: the answer's
  // own says when to send.
  void on_answer(Time now, const RttEstimator& rtt, double window, bool slow_start) {
    if (window < kFew && 2 * rtt.latest() < rtt.smoothed())
      next_ = std::min(next_, now + packet_time(rtt.latest(), window, slow_start));
  }
  bool may_send(Time now) const { return now >= next_; }
  Time next() const { return next_; }

  // A late caller may catch up on `slack` worth of packets, no more.
  void on_sent(Time now, Duration took, Duration slack) {
    if (free_ > 0) {
      --free_;
      next_ = now;
      return;
    }
    next_ = std::max(next_, now - slack) + took;
  }

 private:
  static constexpr double kGain = 1.5;
  static constexpr double kGainSlowStart = 3;
  static constexpr double kFree = 10;  // packets
  static constexpr double kFew = 2;

  Time next_{};
  int free_ = 0;
};

}  // namespace dlcp::core
