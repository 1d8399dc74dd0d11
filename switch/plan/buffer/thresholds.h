// Depths in bytes for the queues of every port group: ECN knee, drop depth per level, queue limit.
// Levels that do not fit under the limit are merged, in all groups of the switch alike.
#pragma once

#include <string>
#include <vector>

#include "switch/plan/queues/layout.h"

namespace dlcp::fabric {

// Expands the layout to one list of queues per port group. `reasoning` is for --explain.
// Errors: a port's knee alone exceeds what the buffer gives a queue; values out of the target's
// range; no buffer size known.
Checked<std::vector<PortGroupPlan>> set_depths(const Intent& intent, const SwitchIntent& device,
                                               const Capabilities& capabilities, Layout& layout,
                                               std::vector<std::string>& reasoning);

}  // namespace dlcp::fabric
