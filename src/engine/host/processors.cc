#include "engine/host/processors.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>

namespace dlcp::engine {
namespace {

// nullopt if the call is not permitted.
std::optional<std::size_t> processors_in_mask() {
  constexpr int kProcessorsMax = 1 << 16;
  for (int size = 1024; size <= kProcessorsMax; size *= 2) {  // must fit the kernel's mask
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
        CPU_ALLOC(size), [](cpu_set_t* each) { CPU_FREE(each); });
    const std::size_t bytes = CPU_ALLOC_SIZE(size);
    if (set != nullptr && ::sched_getaffinity(0, bytes, set.get()) == 0)
      return static_cast<std::size_t>(CPU_COUNT_S(bytes, set.get()));
    if (errno != EINVAL) break;
  }
  return std::nullopt;
}

// nullopt without a limit, which is "max" in version 2, and -1 in version 1.
std::optional<std::size_t> ratio(std::istream& quota, std::istream& period) {
  long long granted = 0;
  long long each = 0;
  if (!(quota >> granted) || !(period >> each) || granted <= 0 || each <= 0) return std::nullopt;
  return static_cast<std::size_t>((granted + each - 1) / each);
}

void limit(std::optional<std::size_t>& least, std::optional<std::size_t> by) {
  if (by) least = std::min(least.value_or(*by), *by);
}

}  // namespace

std::optional<std::size_t> granted_processors(const std::string& root) {
  const std::filesystem::path groups = root + "/sys/fs/cgroup";
  std::optional<std::size_t> least;
  // Version 2: the process's group and all above it. In a container without a cgroup namespace the
  // path is the host's, but the container's own group is mounted as the root.
  std::ifstream own(root + "/proc/self/cgroup");
  for (std::string line; std::getline(own, line);) {
    if (!line.starts_with("0::/")) continue;
    for (std::filesystem::path group = line.substr(4);; group = group.parent_path()) {
      std::ifstream both(groups / group / "cpu.max");
      limit(least, ratio(both, both));
      if (group.empty()) break;
    }
  }
  // Version 1: the group that is mounted as the root, as in containers.
  std::ifstream quota(groups / "cpu/cpu.cfs_quota_us");
  std::ifstream period(groups / "cpu/cpu.cfs_period_us");
  limit(least, ratio(quota, period));
  return least;
}

std::size_t usable_processors() {
  const std::size_t in_mask = processors_in_mask().value_or(1);
  return std::max<std::size_t>(std::min(in_mask, granted_processors().value_or(in_mask)), 1);
}

}  // namespace dlcp::engine
