// Judges losses over the last few hundred packets instead of by round, so that small and large
// windows are judged equally, and one round with many losses does not decide.
#pragma once

#include <cmath>

namespace dlcp::core {

// Whether `lost` packets exceed what a path with `expected` losses on average loses by chance: two
// standard deviations more, and one packet.
inline bool more_than_chance(double lost, double expected) {
  return lost > expected + 2 * std::sqrt(expected) + 1;
}

class LossWindow {
 public:
  // Covers the last `packets` or half as many. Of 256, 2% are 5: enough to distinguish 2% from 1%.
  explicit LossWindow(double packets = 256) : packets_(packets) {}

  // `lost` may be negative: spurious losses are returned.
  void add(double acked, double lost) {
    for (; heard_ >= packets_; lost_ /= 2)
      heard_ /= 2;
    heard_ += acked + (lost > 0 ? lost : 0);
    give_back(-lost);
  }
  // Packets counted as lost were only late.
  void give_back(double packets) { lost_ = lost_ - packets < 0 ? 0 : lost_ - packets; }
  // Adds the losses of `other` to those of this window.
  void join(const LossWindow& other) {
    heard_ += other.heard_;
    lost_ += other.lost_;
  }

  // More was lost than a path with the loss rate `tolerance` would lose by chance.
  bool exceeds(double tolerance) const { return more_than_chance(lost_, tolerance * heard_); }
  double share() const { return heard_ > 0 ? lost_ / heard_ : 0; }
  void clear() { heard_ = lost_ = 0; }

 private:
  double packets_;
  double heard_ = 0;
  double lost_ = 0;
};

}  // namespace dlcp::core
