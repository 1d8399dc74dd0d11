// Weights of DLCP's queues beside the site's, in the scale the target uses, and what part of a link
// each then gets. The site's weights are never changed.
#pragma once

#include <string>
#include <vector>

#include "switch/plan/layout.h"

namespace dlcp::fabric {

// Fills weight and share_percent of the weighted queues. Errors: nothing left of 100 percent; a
// site's queue would get less than its declared minimum.
std::vector<Problem> share_out(const Intent& intent, const SwitchIntent& device,
                               const Capabilities& capabilities, Layout& layout,
                               std::vector<std::string>& reasoning);

}  // namespace dlcp::fabric
