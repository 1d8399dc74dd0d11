// How many processors this process may use, by its affinity mask and by the limit of its container:
// `docker --cpus` and Kubernetes' `limits.cpu` limit the time, not the mask.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace dlcp::engine {

// At least 1.
std::size_t usable_processors();

// The processors' worth of time, rounded up, that the control groups of this process grant;
// nullopt: no limit. `root` is in front of /proc and /sys, for tests.
std::optional<std::size_t> granted_processors(const std::string& root = "");

}  // namespace dlcp::engine
