// Deliveries in the last few rounds of acknowledgements: the number of packets in the best round,
// the window that follows from it, and the mean interval between packets.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "util/time.h"

namespace dlcp::core {

class DeliveredLately {
 public:
  // A round of `packets` has ended. The duration of the first is unknown, because the time of its
  // first transmission is not recorded.
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
  // A window does not grow beyond what can be used.
  double usable_window() const { return kUsableGain * most() + kUsableLeast; }
  // While licensed packets are lost, at most a little more than what has arrived per RTT may be in
  // flight; a few packets are always allowed.
  double lossy_window() const { return std::max(kLossyLeast, kLossyGain * most()); }
  // Nanoseconds between delivered packets, host delays and pauses included; 0: unknown.
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
