#include "fabric/fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace dlcp::fabric {
namespace {

Error bad(const std::string& what, const std::string& hint) {
  return {ErrorCode::kInvalidUsage, what, hint};
}

bool in_range(double value, double most) {
  return std::isfinite(value) && value >= 0 && value <= most;
}

// Names are written to line-based and column-based files; each format checks its own restrictions.
bool is_name(const std::string& name) {
  return !name.empty() && name.size() <= 255 &&
         std::ranges::none_of(
             name, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

Status check_name(const std::string& name, const char* kind,
                  std::unordered_set<std::string>& seen) {
  if (!is_name(name))
    return bad(fmt::format("the name of a {} is '{}'", kind, name.substr(0, 80)),
               "give 1..255 bytes without control characters");
  if (!seen.insert(name).second)
    return bad(fmt::format("two {}s are called '{}'", kind, name), "give each a name of its own");
  return Unit{};
}

Status check_hosts(const Fabric& fabric) {
  if (fabric.hosts.empty() || fabric.hosts.size() > kHostsMax)
    return bad(fmt::format("{} hosts", fabric.hosts.size()), fmt::format("give 1..{}", kHostsMax));
  std::unordered_set<std::string> seen;
  for (const Host& host : fabric.hosts) {
    if (const Status named = check_name(host.name, "host", seen); !named) return named;
    if (!in_range(host.gb_per_s, kGbPerSecondMax))
      return bad(fmt::format("host '{}': gb_per_s is {}", host.name, host.gb_per_s),
                 fmt::format("give 0 (unknown) to {:g}", kGbPerSecondMax));
    if (host.slots < 1 || host.slots > 1024)
      return bad(fmt::format("host '{}': slots {}", host.name, host.slots), "give 1..1024");
  }
  return Unit{};
}

Status check_groups(const Fabric& fabric) {
  std::unordered_set<std::string> seen;
  for (std::size_t i = 0; i < fabric.groups.size(); ++i) {
    const Group& group = fabric.groups[i];
    if (const Status named = check_name(group.name, "group", seen); !named) return named;
    const bool sound = i == 0 ? group.parent == -1
                              : group.parent >= 0 && static_cast<std::size_t>(group.parent) < i;
    if (!sound)
      return bad(
          fmt::format("group '{}' has an invalid parent ({})", group.name, group.parent),
          "the first group must be the whole fabric, and parents must precede their children");
    if (depth_of(fabric, static_cast<int>(i)) >= static_cast<int>(kGroupDepthMax))
      return bad(fmt::format("group '{}' is {} levels deep", group.name, kGroupDepthMax),
                 fmt::format("the limit is {}", kGroupDepthMax - 1));
    if (!in_range(group.uplink_gb_per_s, kGbPerSecondMax))
      return bad(
          fmt::format("group '{}': uplink_gb_per_s is {}", group.name, group.uplink_gb_per_s),
          fmt::format("give 0 (unknown) to {:g}", kGbPerSecondMax));
    if (!in_range(group.round_trip_us, kMicrosecondsMax))
      return bad(fmt::format("group '{}': round_trip_us is {}", group.name, group.round_trip_us),
                 fmt::format("give 0 (unknown) to {:g}", kMicrosecondsMax));
  }
  return Unit{};
}

}  // namespace

Fabric Fabric::flat(std::vector<Host> hosts) {
  Fabric fabric;
  fabric.group_of.assign(hosts.size(), 0);
  fabric.hosts = std::move(hosts);
  fabric.groups.push_back({"fabric", -1, 0, 0, false});
  return fabric;
}

Status check(const Fabric& fabric) {
  if (const Status hosts = check_hosts(fabric); !hosts) return hosts;
  if (fabric.groups.empty())
    return bad("no groups", "give at least one group, which contains all hosts");
  if (const Status groups = check_groups(fabric); !groups) return groups;
  if (fabric.group_of.size() != fabric.hosts.size())
    return bad(fmt::format("there are {} hosts, but {} of them have a group", fabric.hosts.size(),
                           fabric.group_of.size()),
               "give one group for each host");
  const int groups = static_cast<int>(fabric.groups.size());
  for (std::size_t i = 0; i < fabric.group_of.size(); ++i)
    if (fabric.group_of[i] < 0 || fabric.group_of[i] >= groups)
      return bad(fmt::format("host '{}' is in no group", fabric.hosts[i].name), "put it into one");
  return Unit{};
}

int depth_of(const Fabric& fabric, int group) {
  int depth = 0;
  for (int at = fabric.groups[static_cast<std::size_t>(group)].parent; at >= 0;
       at = fabric.groups[static_cast<std::size_t>(at)].parent)
    ++depth;
  return depth;
}

int common_group(const Fabric& fabric, int a, int b) {
  int x = fabric.group_of[static_cast<std::size_t>(a)];
  int y = fabric.group_of[static_cast<std::size_t>(b)];
  // A parent's index is less than its child's, so the greater index is never an ancestor of the
  // other.
  while (x != y) {
    int& greater = x > y ? x : y;
    greater = fabric.groups[static_cast<std::size_t>(greater)].parent;
  }
  return x;
}

std::vector<std::vector<int>> members(const Fabric& fabric) {
  std::vector<std::vector<int>> of(fabric.groups.size());
  for (std::size_t host = 0; host < fabric.hosts.size(); ++host)
    for (int at = fabric.group_of[host]; at >= 0;
         at = fabric.groups[static_cast<std::size_t>(at)].parent)
      of[static_cast<std::size_t>(at)].push_back(static_cast<int>(host));
  return of;
}

std::vector<int> leaves(const Fabric& fabric) {
  std::vector<int> found = fabric.group_of;
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

double round_trip_us(const Fabric& fabric, int a, int b) {
  if (a == b) return 0;
  return fabric.groups[static_cast<std::size_t>(common_group(fabric, a, b))].round_trip_us;
}

int find_host(const Fabric& fabric, const std::string& name) {
  const auto& hosts = fabric.hosts;
  auto found = std::ranges::find(hosts, name, &Host::name);
  if (found == hosts.end())
    found = std::ranges::find_if(hosts, [&](const Host& host) {
      return std::ranges::find(host.addresses, name) != host.addresses.end();
    });
  return found == hosts.end() ? -1 : static_cast<int>(found - hosts.begin());
}

}  // namespace dlcp::fabric
