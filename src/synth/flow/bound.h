// Lower bounds on the time of any algorithm on a topology, proven by maximum flows and minimum
// cuts. Rates are S/t for a rank's buffer of S bytes, the algorithm bandwidth of NCCL's tests; for
// AllGather S is the size of the output. Capacities are rounded up, so that a rate is never
// underestimated.
#pragma once

#include <string>

#include "synth/plan/collective.h"
#include "synth/topology.h"

namespace dlcp::synth {

struct Bound {
  double rate = 0;     // upper bound, bytes per second; infinite for a single rank
  double latency = 0;  // lower bound in seconds for any size
  std::string reason;  // the part of the network that limits the rate, for messages

  double seconds(double bytes) const;  // lower bound for a buffer of this size
};

Bound bound_of(const Topology& topology, Collective collective);

}  // namespace dlcp::synth
