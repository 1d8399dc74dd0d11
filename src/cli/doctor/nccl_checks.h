// Checks of what NCCL will find on this machine: NCCL itself, and our plugin by the name that
// NCCL_NET_PLUGIN=dlcp looks up.
#pragma once

#include "cli/doctor/finding.h"

namespace dlcp::cli {

Finding check_nccl();
Finding check_plugin();
Finding check_rdma();  // RDMA ports and rdma-core, for the RoCE datapath

}  // namespace dlcp::cli
