// What a group with hubs (DLCP_COLLNET_HUBS) needs beyond one without.
#pragma once

#include <span>
#include <vector>

#include "engine/hub_visit.h"
#include "engine/settings.h"
#include "nccl/handle.h"
#include "util/result.h"

namespace dlcp::nccl {

// None where the setting is empty. Fails where it cannot be meant, or a plan is set as well.
Result<std::vector<engine::HubPlace>> hub_places(const engine::Settings& settings);

// Blocks for half of DLCP_COLLNET_TIMEOUT at most. `handles`: of all ranks; `us.rank` is ours.
Result<engine::VisitedHubs> come_to_hubs(std::span<const engine::HubPlace> places,
                                         const engine::Settings& settings,
                                         const engine::GroupWord& us,
                                         std::span<const Handle> handles);

}  // namespace dlcp::nccl
