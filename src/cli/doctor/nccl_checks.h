// Checks of what NCCL will find on this machine: NCCL itself, and our plugin by the name that
// NCCL_NET_PLUGIN=dlcp looks up.
#pragma once

#include <string>

#include "cli/doctor/finding.h"

namespace dlcp::cli {

// The newest net ABI that a release of NCCL looks up (2.13.4 and later), 0 below that. `version` is
// as ncclGetVersion gives it: major * 10000 + minor * 100 + patch.
int newest_net_abi(int version);
std::string nccl_version_text(int version);  // "2.28.9"

Finding check_nccl();
Finding check_plugin();
Finding check_rdma();  // rdma-core and devices, for the RoCE datapath to come

}  // namespace dlcp::cli
