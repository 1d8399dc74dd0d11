// The version of NCCL's net interface that each release looks up first, and the version of DLCP's
// interfaces that it then uses. Source: the lookup lists in NCCL's own net plugin loader, tag by
// tag.
#pragma once

#include <array>
#include <string>

namespace dlcp::cli {

struct NetAbiRow {
  int since;             // in ncclGetVersion's form: major * 10000 + minor * 100 + patch
  const char* releases;  // for messages
  int newest;            // highest interface version that these releases look up
};

inline constexpr std::array<NetAbiRow, 7> kNetAbiRows = {{
    {23000, "2.30 and later", 12},
    {22800, "2.28, 2.29", 11},
    {22600, "2.26, 2.27", 10},
    {22400, "2.24, 2.25", 9},
    {22000, "2.20 - 2.23", 8},
    {21900, "2.19", 7},
    {21304, "2.13.4 - 2.18", 6},
}};
inline constexpr std::array<int, 6> kOurNetAbis = {12, 11, 10, 9, 8, 6};

// The newest interface that this NCCL version looks up; 0 below 2.13.4.
int newest_net_abi(int version);
// The newest of DLCP's interfaces that it looks up; 0 if there is none.
int net_abi_taken(int version);
std::string nccl_version_text(int version);  // "2.28.9"

// NCCL versions that unload the plugin with a process's last communicator, drop its name, and look
// for libnccl-net.so the next time (src/plugin/net.cc, ncclNetPluginUnload; fixed in 2.30.3).
inline constexpr int kForgetsPluginSince = 22803;
inline constexpr int kForgetsPluginUntil = 23002;

}  // namespace dlcp::cli
