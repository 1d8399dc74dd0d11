// Tests whether the RDMA devices of this host can place data: write packets directly into the
// memory of the receiver.
#pragma once

#include "cli/doctor/finding.h"

namespace dlcp::cli {

// One finding for each usable port. Each test opens the device and takes up to a second.
Findings check_placement();

}  // namespace dlcp::cli
