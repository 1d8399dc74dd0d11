// What has been delivered in the last few rounds of acknowledgements: how many packets in the best
// of them, and how far apart they were on average.
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
  struct Round {
    double packets = 0;
    Duration took{0};
  };
  std::array<Round, 4> last_{};
  std::size_t rounds_ = 0;
  Time ended_{};
};

}  // namespace dlcp::core
