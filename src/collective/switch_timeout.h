// How long a worker waits for a sum before it sends again: from round trips as RFC 6298 has it, in
// nanoseconds instead of seconds. By Karn's rule what was sent twice is no sample, and a time-out
// that was doubled stays so until there is one.
#pragma once

#include <algorithm>

#include "util/time.h"

namespace dlcp::collective {

class SwitchTimeout {
 public:
  // `guess`: until the first round trip has been seen.
  explicit SwitchTimeout(Duration guess) : base_(guess) {}

  Duration wait() const { return std::min(base_ * (1 << doublings_), std::max(kLongest, base_)); }

  // Of a packet that was sent once.
  void on_round_trip(Duration trip) {
    trip = std::clamp(trip, Duration(1), Duration(10s));
    if (mean_ == Duration{0}) {
      mean_ = trip;
      deviation_ = trip / 2;
    } else {
      const Duration off = trip > mean_ ? trip - mean_ : mean_ - trip;
      deviation_ += (off - deviation_) / 4;
      mean_ += (trip - mean_) / 8;
    }
    base_ = mean_ + std::max(4 * deviation_, mean_ / 2);
    doublings_ = 0;
  }

  // What was sent at `sent` has not been answered at `now`. Packets that were lost together double
  // the time-out once.
  void on_expired(Time sent, Time now) {
    if (sent < doubled_at_) return;
    doubled_at_ = now;
    doublings_ = std::min(doublings_ + 1, kDoublingsMax);
  }

  void forget_doublings() { doublings_ = 0; }

 private:
  static constexpr int kDoublingsMax = 16;
  static constexpr Duration kLongest = 1s;  // of doublings, not of round trips

  Duration base_;
  Duration mean_{0};
  Duration deviation_{0};
  int doublings_ = 0;
  Time doubled_at_ = Time::min();
};

}  // namespace dlcp::collective
