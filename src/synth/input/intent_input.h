// The topology of an intent of dlcp-switch: leaves with their host ports, spines above them. An
// intent does not describe cables: each leaf's fabric ports are assumed to be spread over all
// spines in proportion to their rates.
#pragma once

#include <string>

#include "synth/topology.h"

namespace dlcp::synth {

// Whether a file looks like intent.yaml.
bool is_intent(const std::string& text);
// A rank for each host port that carries DLCP (not those with trust: remark). Settled.
Result<Topology> parse_intent(const std::string& text, const std::string& source);

}  // namespace dlcp::synth
