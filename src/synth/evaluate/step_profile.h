// The time of a schedule if every step begins when the previous one has ended on all ranks: one
// pass over the schedule, then the time for any size. Accurate for schedules of few steps, too high
// if steps overlap; used to choose schedules for simulation.
#pragma once

#include <vector>

#include "synth/plan/schedule.h"
#include "synth/routes.h"

namespace dlcp::synth {

class StepProfile {
 public:
  // All pairs that send must be adjacent.
  StepProfile(const Topology& topology, const Routes& routes, const Schedule& schedule);

  double seconds(double bytes) const;
  // Seconds per byte of the most loaded link over all steps: a lower bound with perfect overlap.
  double seconds_per_byte() const { return whole_; }

 private:
  struct Step {
    double latency = 0;           // of the farthest pair
    double processor = 0;         // of the rank with the most messages
    double seconds_per_byte = 0;  // of the most loaded link
  };
  std::vector<Step> steps_;
  double whole_ = 0;
};

}  // namespace dlcp::synth
