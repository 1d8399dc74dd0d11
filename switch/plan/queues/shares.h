// Weights of DLCP's queues relative to the site's, in the target's scale, and the resulting part of
// a link for each queue. The site's weights are never changed.
#pragma once

#include <string>
#include <vector>

#include "switch/plan/queues/layout.h"

namespace dlcp::fabric {

// Fills weight and share_percent of the weighted queues. Errors: nothing is left of 100 percent; a
// queue of the site would get less than its declared minimum.
std::vector<Problem> assign_shares(const Intent& intent, const SwitchIntent& device,
                                   const Capabilities& capabilities, Layout& layout,
                                   std::vector<std::string>& reasoning);

}  // namespace dlcp::fabric
