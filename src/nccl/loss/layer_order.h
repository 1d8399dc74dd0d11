// Determines which gradients the next forward pass needs first. A backward pass reduces the last
// layers first, so a training step is a repeated sequence of collectives whose end belongs to the
// front of the model. The order is learned per communicator: the shortest repeated sequence, and
// its longest pause, after which a step begins. A change of pattern restarts learning; until the
// order is known, nothing is urgent.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "nccl/profiler/collective.h"
#include "util/time.h"

namespace dlcp::nccl {

class LayerOrder {
 public:
  static constexpr std::size_t kStepMax = 256;    // collectives of one step
  static constexpr std::size_t kUrgentShare = 4;  // the last quarter of a step

  // A collective has started. True if it is one of the last of a step.
  bool started(Time now, const Collective& collective);

  std::size_t step_length() const { return period_; }  // 0: unknown

 private:
  void count_repeats(std::uint64_t signature);
  void look_for_period();

  std::array<std::uint64_t, kStepMax> history_{};
  std::array<std::uint32_t, kStepMax + 1> repeats_{};  // consecutive repeats at each distance
  std::uint64_t seen_ = 0;
  std::size_t period_ = 0;
  std::uint64_t period_from_ = 0;  // seen_ when the period was found
  std::vector<Duration> pauses_;   // before each collective of the period, smoothed
  Time last_{};
};

}  // namespace dlcp::nccl
