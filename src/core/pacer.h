// Spreads a window over a round trip: a burst may leave when the earlier ones have had their time.
#pragma once

#include <algorithm>

#include "util/time.h"

namespace dlcp::core {

class Pacer {
 public:
  // Time that one packet takes at `gain` windows per round trip.
  static Duration packet_time(Duration round_trip, double window, double gain) {
    return std::chrono::duration_cast<Duration>(round_trip / (std::max(window, 0.05) * gain));
  }

  bool may_send(Time now) const { return now >= next_; }
  Time next() const { return next_; }

  // A late caller may catch up on `slack` worth of packets, no more.
  void on_sent(Time now, Duration took, Duration slack) {
    next_ = std::max(next_, now - slack) + took;
  }

 private:
  Time next_{};
};

}  // namespace dlcp::core
