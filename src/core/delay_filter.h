// What the delays of a connection say about its path: how long it takes when it is empty, and how
// much packets differ without any queue. Both are judged from samples that may be wrong one by one.
#pragma once

#include <array>
#include <cstddef>

#include "util/time.h"

namespace dlcp::core {

// The delay of the empty path: the smallest of the last one to two epochs, as routes change.
class BaseDelay {
 public:
  void add(Time now, Duration sample, Duration round_trip);
  // The path has another delay from now on.
  void restart(Duration base) {
    base_ = next_ = base;
    seen_ = 0;
  }
  Duration value() const { return base_; }  // 0 before the first sample

 private:
  Duration credible(Duration sample);

  // A sample can be too small by any amount: clocks are read apart, and a merged buffer bears the
  // stamp of its first packet. The second smallest of a few is not deceived by one.
  std::array<Duration, 8> recent_{};
  std::size_t seen_ = 0;
  Duration base_{0};
  Duration next_{0};  // of the epoch that has begun
  Time epoch_ends_{};
};

// How far delays spread, from the mean step between neighbours: jitter moves neighbours apart, a
// standing queue does not. If delays were uniform over [base, base + spread], a third of the
// spread would be the mean step.
class Jitter {
 public:
  void add(Duration sample);
  Duration spread() const { return 3 * mean_step_; }

 private:
  Duration last_{0};
  Duration mean_step_{0};
};

}  // namespace dlcp::core
