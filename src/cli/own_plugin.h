// Finds the plugin that was built or installed together with this program.
#pragma once

#include <string>

namespace dlcp::cli {

inline constexpr const char* kPluginFile = "libnccl-net-dlcp.so";

// Path of the plugin file: in the library folder that belongs to the program's folder, under any of
// the usual names, or next to the program. Empty if not found.
std::string own_plugin_path();

}  // namespace dlcp::cli
