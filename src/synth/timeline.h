// A schedule's messages over time as a picture (SVG): a row for each rank that sends, a bar from
// when a message leaves to when it has arrived, coloured by step.
#pragma once

#include <string>

#include "synth/simulate.h"
#include "synth/topology.h"

namespace dlcp::synth {

// `simulated` with its timings. Of very many messages the longest are drawn.
std::string timeline_svg(const Topology& topology, const Schedule& schedule,
                         const Simulated& simulated, const std::string& title);

}  // namespace dlcp::synth
