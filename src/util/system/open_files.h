// How many files this process has open, of how many that it may open (RLIMIT_NOFILE).
#pragma once

#include <sys/resource.h>

#include <cstddef>
#include <filesystem>
#include <iterator>
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
  const std::filesystem::directory_iterator files("/proc/self/fd", error);
  if (error || ::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::nullopt;
  return OpenFiles{static_cast<std::size_t>(std::distance(begin(files), end(files))),
                   limit.rlim_cur};
}

}  // namespace dlcp
