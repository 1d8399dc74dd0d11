// Judges losses over the last few hundred packets instead of round by round: so small windows and
// large ones are judged alike, and one unlucky round convicts nobody.
#pragma once

#include <cmath>

namespace dlcp::core {

class LossWindow {
 public:
  // `lost` may be negative: losses that turned out to be none are given back.
  void add(double acked, double lost) {
    heard_ += acked + (lost > 0 ? lost : 0);
    lost_ = lost_ + lost < 0 ? 0 : lost_ + lost;
    if (heard_ < kPackets) return;
    heard_ /= 2;
    lost_ /= 2;
  }

  // More was lost than a path that loses the share `tolerance` would lose by chance: two standard
  // deviations more, and one packet.
  bool exceeds(double tolerance) const {
    const double expected = tolerance * heard_;
    return lost_ > expected + 2 * std::sqrt(expected) + 1;
  }
  double share() const { return heard_ > 0 ? lost_ / heard_ : 0; }
  void clear() { heard_ = lost_ = 0; }

 private:
  static constexpr double kPackets = 256;  // 2% are 5 of them: enough to tell from 1%
  double heard_ = 0;
  double lost_ = 0;
};

}  // namespace dlcp::core
