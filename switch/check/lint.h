// Semantic checks that go beyond a grammar: the harm that a well-formed configuration could do to
// the site or to DLCP. A switch with errors is not rendered.
#pragma once

#include <vector>

#include "switch/model/problem.h"
#include "switch/plan/plan.h"

namespace dlcp::fabric {

// Checks of one switch: collisions, lossless classes, thresholds against the buffer, starvation,
// trust.
std::vector<Problem> lint_switch(const Intent& intent, const SwitchIntent& device,
                                 const SwitchPlan& plan);

// Checks across switches: hash seeds of neighbouring tiers, levels that differ along a path.
std::vector<Problem> lint_fabric(const Intent& intent, const std::vector<SwitchPlan>& plans);

}  // namespace dlcp::fabric
