// What a schedule costs if every step begins when the step before has ended everywhere: one pass
// over the schedule, then the time for any size. Close for schedules of few steps, and too high for
// those whose steps overlap; for choosing what to simulate.
#pragma once

#include <vector>

#include "synth/routes.h"
#include "synth/schedule.h"

namespace dlcp::synth {

class StepProfile {
 public:
  // Every pair that sends must be adjacent.
  StepProfile(const Topology& topology, const Routes& routes, const Schedule& schedule);

  double seconds(double bytes) const;
  // Seconds per byte of the most loaded link over all steps: what overlapping can come to at best.
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
