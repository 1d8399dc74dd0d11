// Reads the plan that DLCP_PLAN names, for one group.
#pragma once

#include <optional>

#include "engine/settings/settings.h"
#include "nccl/plan/collective_plan.h"
#include "util/result.h"

namespace dlcp::nccl {

// The checks that are possible before the group is known; succeeds if DLCP_PLAN is not set.
Status check_plan_setting(const engine::Settings& settings);

// nullopt without DLCP_PLAN.
Result<std::optional<CollectivePlan>> plan_for(const engine::Settings& settings, int ranks,
                                               int rank);

}  // namespace dlcp::nccl
