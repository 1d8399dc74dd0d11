// Spreads a window over an RTT: a burst may leave when the time of the earlier ones has passed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/congestion/burst.h"
#include "util/time.h"

namespace dlcp::core {

class Pacer {
 public:
  // Sending time of one packet: somewhat less than its share of the RTT, so that the window is the
  // limit, and less in slow start, which doubles the window.
  static Duration packet_time(Duration round_trip, double window, bool slow_start) {
    const double gain = slow_start ? 2 * kGain : kGain;  // windows per RTT
    return std::chrono::duration_cast<Duration>(round_trip / (std::max(window, 0.05) * gain));
  }

  // Nothing is in flight. A few packets may then leave at once, as in TCP (RFC 6928), so that a
  // short message is not spread over a long RTT. At most half of the window, so that a window of
  // one packet is paced. The sending time of one burst may follow them at once.
  void on_pause(double window) { free_ = static_cast<std::int64_t>(std::min(window / 2, kFree)); }
  bool may_send(Time now) {
    const bool may = now >= next_;
    if (!may) limits_ = true;
    return may;
  }
  // The pace so far was too slow: the next packet may leave now.
  void forgive(Time now) { next_ = std::min(next_, now); }
  // The window or lack of data stops the sender.
  void on_other_limit() { limits_ = false; }
  Time next() const { return next_; }

  // The sending time on which a late caller may catch up: up to an RTT if only pacing made it wait,
  // because its processor is busy then.
  Duration slack(Duration round_trip) const {
    return limits_ ? std::clamp(round_trip, kSlack, kSlackMost) : kSlack;
  }
  // Packets were sent; each takes the time `took`.
  void on_sent(Time now, std::size_t packets, Duration took, Duration slack) {
    const auto sent = static_cast<std::int64_t>(packets);
    const std::int64_t unpaced = std::min<std::int64_t>(free_, sent);
    if (unpaced > 0) next_ = std::max(next_, now - kBurstSpan);
    free_ -= unpaced;
    if (sent > unpaced) next_ = std::max(next_, now - slack) + (sent - unpaced) * took;
  }

 private:
  static constexpr double kGain = 1.5;
  static constexpr double kFree = 10;  // packets
  static constexpr Duration kSlack = std::chrono::microseconds(200);
  static constexpr Duration kSlackMost = std::chrono::milliseconds(6);  // two time slices

  Time next_{};
  std::int64_t free_ = 0;  // packets that leave unpaced
  bool limits_ = false;    // the last stop of the sender was due to pacing
};

}  // namespace dlcp::core
