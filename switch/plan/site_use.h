// What of a switch is the site's: the queues and traffic classes that carry something today, and
// so what DLCP may have. The site may give queues up (site.may_take_queues): then nothing of its
// own is expected in them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switch/plan/plan.h"

namespace dlcp::fabric {

// Bit q: a DSCP that stays the site's leads to queue q (unmapped ones included), or PFC protects
// it, or the site configures it; not those that the site gives up.
std::uint8_t queues_in_use(const SiteConfig& site, std::uint64_t dlcp_dscps);

// Bit c: a DSCP that stays the site's has class c, whose queue the site does not give up.
std::uint16_t classes_in_use(const SiteConfig& site, std::uint64_t dlcp_dscps);

// The queue that a class leads to today.
std::uint8_t queue_of_class(const SiteConfig& site, std::uint8_t traffic_class);

// Queues that DLCP may have, highest first. The control-plane queue is free only where the site
// gives it up, and then for a queue that neither marks nor drops early.
struct FreeQueues {
  std::vector<std::uint8_t> any;
  bool control_plane = false;  // the control-plane queue, too
};
FreeQueues free_queues(const SiteConfig& site, const Capabilities& capabilities,
                       std::uint64_t dlcp_dscps);

// DSCPs outside of DLCP's that lead to a queue which the site gives up: they share it with DLCP.
std::vector<std::uint8_t> dscps_in_given_queues(const SiteConfig& site, std::uint64_t dlcp_dscps);

// The lines to add to an intent whose site leaves no queue free; empty: no queue could be given up.
std::string may_take_hint(const SiteConfig& site, const Capabilities& capabilities,
                          std::uint64_t dlcp_dscps);

}  // namespace dlcp::fabric
