// How many files this process has open, of how many that it may open (RLIMIT_NOFILE).
#pragma once

#include <sys/resource.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <system_error>

namespace dlcp {

struct OpenFiles {
  std::size_t open = 0;
  std::size_t most = 0;
};

// nullopt without /proc.
inline std::optional<OpenFiles> open_files() {
  rlimit limit{};
  std::error_code error;
  std::filesystem::directory_iterator file("/proc/self/fd", error);
  std::size_t open = 0;
  for (; !error && file != std::filesystem::directory_iterator(); file.increment(error))
    ++open;
  if (error || ::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::nullopt;
  return OpenFiles{open, limit.rlim_cur};
}

}  // namespace dlcp
