// The only access to the process environment and to the config file on disk.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "engine/settings/settings.h"

namespace dlcp::engine {

// The current values of DLCP_*, NCCL_SOCKET_IFNAME, NCCL_SOCKET_FAMILY and NCCL_IB_HCA.
Variables process_environment();

// A FileReader for load_settings; rejects files larger than 1 MiB.
Result<std::optional<std::string>> read_text_file(const std::string& path);

// The settings of a job with this environment and the config file that it names.
Result<Settings> process_settings();

// Buffer size of each NCCL connection with protocol Simple: NCCL_BUFFSIZE, parsed as NCCL parses
// it.
std::size_t nccl_simple_buffer_bytes();

// True if NCCL keeps the net plugin after a process's last communicator ends, which is when
// NCCL_NET_PLUGIN_REF_COUNT is not 0.
bool nccl_keeps_net_plugin();
// True if NCCL offers whole all-reduces to plugins (NCCL_COLLNET_ENABLE). The configuration of a
// communicator may override it.
bool nccl_offers_collnet();

}  // namespace dlcp::engine
