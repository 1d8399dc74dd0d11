// Compares the running configuration of a switch and its ports with the intent: speeds come from
// the switch, and if both state a value they must agree.
#pragma once

#include <vector>

#include "switch/model/intent.h"

namespace dlcp::fabric {

// Fills the speeds of port groups from the import, and splits a group whose ports differ in speed.
// Errors, which name both sides: a stated speed that is not the port's; fabric.link_speed, if no
// port of the group has it; an ASIC that does not match the imported hardware.
std::vector<Problem> resolve_ports(const Intent& intent, SwitchIntent& device);

}  // namespace dlcp::fabric
