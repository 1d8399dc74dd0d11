// Which gradients the next forward pass needs first. Backward passes reduce the last layers first,
// so a training step is a sequence of collectives that returns, and its end is the front of the
// model. Learned per communicator: the shortest sequence that repeats, and the longest pause in it,
// where a step begins. A change of pattern begins anew; until something is known nothing is urgent.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "nccl/collective.h"
#include "util/time.h"

namespace dlcp::nccl {

class LayerOrder {
 public:
  static constexpr std::size_t kStepMax = 256;    // collectives of one step
  static constexpr std::size_t kUrgentShare = 4;  // the last quarter of a step

  // A collective has started; true when it is one of a step's last.
  bool started(Time now, const Collective& collective);

  std::size_t step_length() const { return period_; }  // 0: not known

 private:
  void count_repeats(std::uint64_t signature);
  void look_for_period();

  std::array<std::uint64_t, kStepMax> history_{};
  std::array<std::uint32_t, kStepMax + 1> repeats_{};  // in a row, at each distance
  std::uint64_t seen_ = 0;
  std::size_t period_ = 0;
  std::uint64_t period_from_ = 0;  // seen_ when it was found
  std::vector<Duration> pauses_;   // before each collective of the period, smoothed
  Time last_{};
};

}  // namespace dlcp::nccl
