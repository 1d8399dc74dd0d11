// The time of a schedule on a topology in the alpha-beta model with contention: a message costs its
// sender and its receiver a fixed time each, a hop its latency, and links serve messages one after
// the other; the first hop serves ready messages in the schedule's order. Forwarding is cut-through
// (a hop begins when the first byte arrives), as with packets.
#pragma once

#include <vector>

#include "synth/plan/schedule.h"
#include "synth/routes.h"

namespace dlcp::synth {

struct Timing {
  double begin = 0;  // seconds: the message leaves its sender
  double end = 0;    // the message has arrived
};

struct Simulated {
  double seconds = 0;
  std::vector<Timing> timings;  // by message, if requested
  double busiest = 0;           // share of the time in which the most loaded link sends
};

// All pairs that send must be adjacent. `bytes`: of a rank's buffer.
Simulated simulate(const Topology& topology, const Routes& routes, const Schedule& schedule,
                   double bytes, bool keep_timings = false);

}  // namespace dlcp::synth
