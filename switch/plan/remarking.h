// How DLCP's DSCPs are removed from packets of untrusted ports. Some targets rewrite DSCPs on
// ingress. Others rewrite by traffic class on egress: there a separate traffic class carries those
// packets, so that the rewriting map names only that class and leaves all others unchanged.
#pragma once

#include <cstdint>
#include <string>

#include "switch/model/intent.h"
#include "switch/plan/plan.h"

namespace dlcp::fabric {

// True if the intent names ports that lead to other switches. A target that rewrites on egress does
// so on these ports.
bool has_uplinks(const SwitchPlan& plan);

// Finds a class for each DSCP to which untrusted ports' marks are rewritten, if the target needs
// one. A group without such a class keeps its marks; lint reports it.
void plan_remarking(SwitchPlan& plan);

// The class that carries only this group's rewritten packets; nullopt: they use the class of the
// DSCP that they are rewritten to.
std::optional<std::uint8_t> remark_class(const SwitchPlan& plan, const PortGroup& in);

// True if packets that arrive here with DLCP's DSCPs reach the next switch with other DSCPs.
bool rewrites_marks(const SwitchPlan& plan, const PortGroup& in);

}  // namespace dlcp::fabric
