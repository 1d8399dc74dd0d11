// Judges losses over the last few hundred packets instead of round by round: so small windows and
// large ones are judged alike, and one unlucky round convicts nobody.
#pragma once

#include <cmath>

namespace dlcp::core {

// Whether so many lost packets are more than a path that loses `expected` on average takes by
// chance: two standard deviations more, and one packet.
inline bool more_than_chance(double lost, double expected) {
  return lost > expected + 2 * std::sqrt(expected) + 1;
}

class LossWindow {
 public:
  // Over the last `packets` or half as many; of 256, 2% are 5: enough to tell from 1%.
  explicit LossWindow(double packets = 256) : packets_(packets) {}

  // `lost` may be negative: losses that turned out to be none are given back.
  void add(double acked, double lost) {
    heard_ += acked + (lost > 0 ? lost : 0);
    lost_ = lost_ + lost < 0 ? 0 : lost_ + lost;
    if (heard_ < packets_) return;
    heard_ /= 2;
    lost_ /= 2;
  }

  // More was lost than a path that loses the share `tolerance` would lose by chance.
  bool exceeds(double tolerance) const { return more_than_chance(lost_, tolerance * heard_); }
  double share() const { return heard_ > 0 ? lost_ / heard_ : 0; }
  void clear() { heard_ = lost_ = 0; }

 private:
  double packets_;
  double heard_ = 0;
  double lost_ = 0;
};

}  // namespace dlcp::core
