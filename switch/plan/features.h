// Checks the features that the intent requests: the target supports them, their numbers are in its
// range, and the rest of the plan has what they require.
#pragma once

#include <vector>

#include "switch/model/intent.h"
#include "switch/plan/plan.h"

namespace dlcp::fabric {

// Fills plan.features. plan.queues must be filled already.
std::vector<Problem> plan_features(const Intent& intent, const SwitchIntent& device,
                                   SwitchPlan& plan);

}  // namespace dlcp::fabric
