// Where the plugin is that was built or installed together with this program.
#pragma once

#include <string>

namespace dlcp::cli {

inline constexpr const char* kPluginFile = "libnccl-net-dlcp.so";

// Path of the plugin file: in the library folder beside the program's, by any of the names that
// systems give it, or next to the program. Empty if there is none.
std::string own_plugin_path();

}  // namespace dlcp::cli
