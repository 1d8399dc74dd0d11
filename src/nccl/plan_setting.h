// What DLCP_PLAN asks for: the plan that it names, for one group.
#pragma once

#include <optional>

#include "engine/settings.h"
#include "nccl/collective_plan.h"
#include "util/result.h"

namespace dlcp::nccl {

// What can be said of it before the group is known; nothing is wrong where it is not set.
Status check_plan_setting(const engine::Settings& settings);

// Nothing without DLCP_PLAN.
Result<std::optional<CollectivePlan>> plan_for(const engine::Settings& settings, int ranks,
                                               int rank);

}  // namespace dlcp::nccl
