// A schedule's messages over time as a picture (SVG): a row for each sending rank, a bar from the
// begin to the arrival of each message, coloured by step.
#pragma once

#include <string>

#include "synth/evaluate/simulate.h"
#include "synth/topology.h"

namespace dlcp::synth {

// `simulated` must have timings. If there are too many messages, only the longest are drawn.
std::string timeline_svg(const Topology& topology, const Schedule& schedule,
                         const Simulated& simulated, const std::string& title);

}  // namespace dlcp::synth
