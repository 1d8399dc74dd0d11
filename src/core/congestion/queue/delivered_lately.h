// What has been delivered in the last few rounds of acknowledgements: how many packets in the best
// of them, what window they bear, and how far apart they were on average.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "util/time.h"

namespace dlcp::core {

class DeliveredLately {
 public:
  // A round of `packets` has ended. The first begins with what was sent, which nobody saw: what it
  // took is unknown.
  void add(Time now, double packets) {
    const Duration took = rounds_ == 0 ? Duration::zero() : now - ended_;
    last_[rounds_++ % last_.size()] = {packets, took};
    ended_ = now;
  }
  double most() const {
    double most = 0;
    for (const Round& round : last_)
      most = std::max(most, round.packets);
    return most;
  }
  // No window grows beyond what it can be used for. `so_far`: packets of the round that goes on.
  double usable_window(double so_far = 0) const {
    return kUsableGain * std::max(most(), so_far) + kUsableLeast;
  }
  // While licensed packets are lost, no more may be in flight than what has arrived per round trip
  // and a little more; a few are always allowed.
  double lossy_window() const { return std::max(kLossyLeast, kLossyGain * most()); }
  // Nanoseconds from one packet delivered to the next, host delays and pauses included; 0: unknown.
  double interval() const {
    double packets = 0;
    double took = 0;
    for (const Round& round : last_) {
      if (round.took == Duration::zero()) continue;
      packets += round.packets;
      took += static_cast<double>(round.took.count());
    }
    return took / std::max(packets, 1.0);
  }

 private:
  static constexpr double kUsableGain = 2;
  static constexpr double kUsableLeast = 32;
  static constexpr double kLossyGain = 1.25;
  static constexpr double kLossyLeast = 8;

  struct Round {
    double packets = 0;
    Duration took{0};
  };
  std::array<Round, 4> last_{};
  std::size_t rounds_ = 0;
  Time ended_{};
};

}  // namespace dlcp::core
