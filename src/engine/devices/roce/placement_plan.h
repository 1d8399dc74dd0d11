// Decides whether the card of a RoCE device places data into posted buffers (core/placement), and
// states the reason for the log.
#pragma once

#include <functional>
#include <string>

#include "datapath/verbs/device/roce_ports.h"
#include "datapath/verbs/placement/placement_ability.h"
#include "engine/settings/settings.h"
#include "util/result.h"

namespace dlcp::engine {

struct PlacementPlan {
  datapath::PlacementAbility ability;  // places() is false if data is copied
  std::string text;                    // for the log: which of the two, and why
};

using PlacementTest = std::function<Result<datapath::PlacementAbility>()>;

// `test` is called only if its result matters, because it takes up to a second.
PlacementPlan plan_placement(const Settings& settings, const datapath::RocePort& port,
                             const PlacementTest& test);

}  // namespace dlcp::engine
