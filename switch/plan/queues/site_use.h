// The queues and traffic classes that the site uses today, and therefore those that DLCP may use.
// The site may give queues up (site.may_take_queues); then it is expected to have no traffic in
// them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switch/plan/plan.h"

namespace dlcp::fabric {

// Bit q: a DSCP that remains the site's leads to queue q (unmapped ones included), PFC protects it,
// or the site configures it. Queues that the site gives up are excluded.
std::uint8_t queues_in_use(const SiteConfig& site, std::uint64_t dlcp_dscps);

// Bit c: a DSCP that remains the site's has class c, and the site does not give up the class's
// queue.
std::uint16_t classes_in_use(const SiteConfig& site, std::uint64_t dlcp_dscps);

// The queue that a class leads to today.
std::uint8_t queue_of_class(const SiteConfig& site, std::uint8_t traffic_class);

// True if the system's default configuration makes the queue lossless and the site is declared:
// only an imported configuration shows whether this default was changed.
bool may_be_lossless(const SiteConfig& site, const Capabilities& capabilities, int queue);

// Queues that DLCP may use, highest first. The control-plane queue is included only if the site
// gives it up, and then only for a queue that neither marks nor drops early.
struct FreeQueues {
  std::vector<std::uint8_t> any;
  bool control_plane = false;  // whether the control-plane queue is free
};
FreeQueues free_queues(const SiteConfig& site, const Capabilities& capabilities,
                       std::uint64_t dlcp_dscps);

// The site's DSCPs in queues that the site gives up: they share these queues with DLCP.
std::vector<std::uint8_t> dscps_in_given_queues(const SiteConfig& site, std::uint64_t dlcp_dscps);

// The lines to add to an intent whose site leaves no queue free; empty: no queue could be given up.
std::string may_take_hint(const SiteConfig& site, const Capabilities& capabilities,
                          std::uint64_t dlcp_dscps);

}  // namespace dlcp::fabric
