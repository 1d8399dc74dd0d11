// The only door to the process environment and to the config file on disk.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "engine/settings.h"

namespace dlcp::engine {

// DLCP_*, NCCL_SOCKET_IFNAME, NCCL_SOCKET_FAMILY and NCCL_IB_HCA, as they are now.
Variables process_environment();

// A FileReader for load_settings; refuses files beyond 1 MiB.
Result<std::optional<std::string>> read_text_file(const std::string& path);

// Of each of NCCL's connections with protocol Simple: NCCL_BUFFSIZE, read as NCCL reads it.
std::size_t nccl_simple_buffer_bytes();

// Whether NCCL is told to keep the net plugin when a process's last communicator ends:
// NCCL_NET_PLUGIN_REF_COUNT, which is not 0.
bool nccl_keeps_net_plugin();
// Whether NCCL is told to offer whole all-reduces to plugins: NCCL_COLLNET_ENABLE. A communicator
// may be told otherwise by its configuration.
bool nccl_offers_collnet();

}  // namespace dlcp::engine
