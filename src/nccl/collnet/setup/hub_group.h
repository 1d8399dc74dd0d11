// Set-up steps that only groups with hubs (DLCP_COLLNET_HUBS) need.
#pragma once

#include <span>
#include <vector>

#include "engine/hub/hub_visit.h"
#include "engine/settings/settings.h"
#include "nccl/net/handle.h"
#include "util/result.h"

namespace dlcp::nccl {

// Empty if the setting is empty. Fails if it is invalid, or if a plan is also set.
Result<std::vector<engine::HubPlace>> hub_places(const engine::Settings& settings);

// Blocks for at most half of DLCP_COLLNET_TIMEOUT. `handles` are those of all ranks; `us.rank` is
// this rank.
Result<engine::VisitedHubs> come_to_hubs(std::span<const engine::HubPlace> places,
                                         const engine::Settings& settings,
                                         const engine::GroupWord& us,
                                         std::span<const Handle> handles);

}  // namespace dlcp::nccl
