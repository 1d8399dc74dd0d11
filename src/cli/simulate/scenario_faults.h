// Faults in a scenario's fabric: cables and hosts that misbehave.
#pragma once

#include "simulate/contest.h"
#include "synth/input/yaml_text.h"

namespace dlcp::cli {

// An element of 'faults', and 'storm'. Names that are not in the fabric are rejected.
simulate::CableFault fault_of(const YAML::Node& map, const simulate::FabricPlan& plan);
simulate::PauseStorm storm_of(const YAML::Node& map, const simulate::FabricPlan& plan);

}  // namespace dlcp::cli
