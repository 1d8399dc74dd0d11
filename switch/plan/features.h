// Features that the intent asks for, settled: the target can do them, their
// numbers are in its range, and what they need of the rest of the plan is
// there.
#pragma once

#include <vector>

#include "switch/model/intent.h"
#include "switch/plan/plan.h"

namespace dlcp::fabric {

// Fills plan.features; the plan's queues are there already.
std::vector<Problem> settle_features(const Intent& intent, const SwitchIntent& device,
                                     SwitchPlan& plan);

}  // namespace dlcp::fabric
