// Semantic checks that no grammar makes: what a well-formed configuration may still do to the site
// or to DLCP. Errors keep a switch from being rendered.
#pragma once

#include <vector>

#include "switch/model/problem.h"
#include "switch/plan/plan.h"

namespace dlcp::fabric {

// Of one switch: collisions, lossless classes, thresholds against the buffer, starvation, trust.
std::vector<Problem> lint_switch(const Intent& intent, const SwitchIntent& device,
                                 const SwitchPlan& plan);

// Of the switches together: hash seeds of neighbouring tiers, levels that differ on a path.
std::vector<Problem> lint_fabric(const Intent& intent, const std::vector<SwitchPlan>& plans);

}  // namespace dlcp::fabric
