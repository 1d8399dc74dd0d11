// What the running configuration says of a switch and its ports against what the intent says:
// speeds come from the switch, and where both speak they must agree.
#pragma once

#include <vector>

#include "switch/model/intent.h"

namespace dlcp::fabric {

// Fills the speeds of port groups from the import, and splits a group whose ports differ in speed.
// Errors, which name both sides: a stated speed that is not the port's; fabric.link_speed, where no
// port of the group has it; an ASIC that the imported hardware does not have.
std::vector<Problem> settle_ports(const Intent& intent, SwitchIntent& device);

}  // namespace dlcp::fabric
