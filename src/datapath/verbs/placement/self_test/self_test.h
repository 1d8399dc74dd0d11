// The test of a device against itself that decides how, and whether, it places data. It needs no
// peer: two queue pairs of the device are connected to each other.
//
// It checks that writes arrive with their immediates; that a write with a revoked key is dropped,
// costs no receive and does not break the queue pair; that window keys change; and, with writes
// under way at every moment of revocation, that no byte changes after it. Permissions by regions
// are tested if windows cannot be used, and if the driver can register dma-bufs, where there are
// none.
#pragma once

#include <memory>
#include <string>

#include "datapath/verbs/device/verbs.h"
#include "datapath/verbs/placement/placement_ability.h"

namespace dlcp::datapath {

Result<PlacementAbility> self_test(std::shared_ptr<Verbs> verbs, const RocePort& port,
                                   bool only_reliable = false,
                                   const std::string& sys_root = "/sys");

}  // namespace dlcp::datapath
