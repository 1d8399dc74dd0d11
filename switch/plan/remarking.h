// Where untrusted ports' packets lose DLCP's DSCPs. Some targets rewrite them as they come in.
// Others rewrite by class as packets leave: there a traffic class of its own carries those packets,
// so that the map which names that class alone leaves all others as they are.
#pragma once

#include <cstdint>
#include <string>

#include "switch/model/intent.h"
#include "switch/plan/plan.h"

namespace dlcp::fabric {

// The intent names ports that lead to other switches: where marks are rewritten as packets leave,
// it is these that rewrite them.
bool has_uplinks(const SwitchPlan& plan);

// Finds a class for each DSCP that untrusted ports' marks become, where the target needs one. A
// group whose DSCP has none keeps its marks: lint says so.
void settle_remarking(SwitchPlan& plan);

// The class that carries this group's rewritten marks alone; nullopt: they have that of the DSCP
// that they become.
std::optional<std::uint8_t> remark_class(const SwitchPlan& plan, const PortGroup& in);

// What comes in here with DLCP's DSCPs is never seen so by the next switch.
bool rewrites_marks(const SwitchPlan& plan, const PortGroup& in);

}  // namespace dlcp::fabric
