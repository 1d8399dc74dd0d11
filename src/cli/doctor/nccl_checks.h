// Checks of what NCCL will find on this machine: NCCL itself, and our plugin by the name that
// NCCL_NET_PLUGIN=dlcp looks up.
#pragma once

#include <string>

#include "cli/doctor/finding.h"

namespace dlcp::cli {

// What it takes, and whether it keeps the plugin.
Findings check_nccl();
// Whether a process that ends all its communicators and makes others gets the plugin again.
// `version`: as ncclGetVersion says it. `keeps`: NCCL_NET_PLUGIN_REF_COUNT is set. `unasked`: what
// NCCL finds as libnccl-net.so is ours.
Finding judge_reload(int version, bool keeps, bool unasked);
Findings check_plugin();
// Whether the plugin that a job loads is the one that belongs to this program. `version`: as the
// plugin says it, empty where it says none, as those before 0.1.0 do. `own`: path of the plugin
// beside this program, empty if there is none; `same`: the two are equal in every byte.
Finding judge_plugin_version(const std::string& path, const std::string& version,
                             const std::string& own, bool same);
Finding check_rdma();  // RDMA ports and rdma-core, for the RoCE datapath

}  // namespace dlcp::cli
