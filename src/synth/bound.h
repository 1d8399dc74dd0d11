// What no algorithm can beat on a topology, proven by maximum flows and minimum cuts. Rates are S/t
// for a rank's buffer of S bytes, as NCCL's tests call algorithm bandwidth; for AllGather S is the
// output. Capacities are rounded up, so that a bound never claims too little.
#pragma once

#include <string>

#include "synth/collective.h"
#include "synth/topology.h"

namespace dlcp::synth {

struct Bound {
  double rate = 0;     // bytes per second, at most; infinite for a single rank
  double latency = 0;  // seconds, at least, whatever the size
  std::string reason;  // what limits the rate, for people

  double seconds(double bytes) const;  // at least, for a buffer of so many bytes
};

Bound bound_of(const Topology& topology, Collective collective);

}  // namespace dlcp::synth
