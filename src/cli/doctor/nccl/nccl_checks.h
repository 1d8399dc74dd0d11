// Checks of the NCCL installation on this machine: NCCL itself, and DLCP's plugin under the name
// that NCCL_NET_PLUGIN=dlcp looks up.
#pragma once

#include <string>

#include "cli/doctor/finding.h"

namespace dlcp::cli {

// NCCL's version and net interface, whether it keeps the plugin loaded, and direct exchange.
Findings check_nccl();
// Whether a process that destroys all its communicators and creates new ones gets the plugin again.
// `version`: of ncclGetVersion. `keeps`: NCCL_NET_PLUGIN_REF_COUNT is set. `unasked`: the
// libnccl-net.so that NCCL finds is DLCP's.
Finding judge_reload(int version, bool keeps, bool unasked);
Findings check_plugin();
// Whether the plugin that a job loads belongs to this program. `version`: the plugin's own, empty
// for plugins before 0.1.0, which have none. `own`: path of the plugin installed with this program,
// empty if there is none. `same`: both files are equal.
Finding judge_plugin_version(const std::string& path, const std::string& version,
                             const std::string& own, bool same);
Finding check_rdma();  // RDMA ports and rdma-core, for the RoCE datapath

}  // namespace dlcp::cli
