// The topology behind an intent of dlcp-switch: leaves with their host ports, spines above them. An
// intent does not say which cable goes where: each leaf's fabric ports are taken as spread over all
// spines, as their rates are.
#pragma once

#include <string>

#include "synth/topology.h"

namespace dlcp::synth {

// Whether a file looks like intent.yaml.
bool is_intent(const std::string& text);
// A rank for each host port that carries DLCP (not those with trust: remark). Settled.
Result<Topology> parse_intent(const std::string& text, const std::string& source);

}  // namespace dlcp::synth
