#include "cli/own_plugin.h"

#include <filesystem>

namespace dlcp::cli {

std::string own_plugin_path() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  // Build folder and tarball; Red Hat's; Debian's (with the compiler's name of the system); both
  // files in one folder.
  for (const char* relative : {"../lib", "../lib64", "../lib/" DLCP_MULTIARCH, "."}) {
    const auto path = (self.parent_path() / relative / kPluginFile).lexically_normal();
    if (std::filesystem::exists(path, error)) return path.string();
  }
  return {};
}

}  // namespace dlcp::cli
