#include "switch/plan/ports.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "switch/plan/units.h"

namespace dlcp::fabric {
namespace {

constexpr double kGigabit = 1e9;

// The group's ports by their speed; ports of unknown speed get the group's.
std::map<std::uint64_t, std::vector<std::size_t>> by_speed(const SiteConfig& site,
                                                           const PortGroup& group) {
  std::map<std::uint64_t, std::vector<std::size_t>> result;
  for (std::size_t i = 0; i < group.ports.size(); ++i) {
    const SitePort* port = find_port(site, group.ports[i]);
    const bool known = port != nullptr && port->bits_per_second != 0;
    result[known ? port->bits_per_second : group.bits_per_second].push_back(i);
  }
  return result;
}

PortGroup part_of(const PortGroup& group, std::uint64_t speed,
                  const std::vector<std::size_t>& members) {
  PortGroup part = group;
  part.bits_per_second = speed;
  part.ports.clear();
  part.hosts.clear();
  for (const std::size_t i : members) {
    part.ports.push_back(group.ports[i]);
    if (i < group.hosts.size()) part.hosts.push_back(group.hosts[i]);
  }
  return part;
}

Problem speed_differs(const Intent& intent, const SwitchIntent& device, const PortGroup& group,
                      const std::string& port, std::uint64_t speed) {
  Problem problem = problem_at(
      intent, device,
      fmt::format("the intent states that {} has {}, but {} says {}", port,
                  rate_text(group.bits_per_second), device.site->source, rate_text(speed)));
  problem.line = group.line;
  problem.seen = group.speed_stated ? "speed of the ports"
                                    : "fabric.link_speed, because the ports state no speed";
  problem.expected = rate_text(speed);
  problem.hint = group.speed_stated ? "leave `speed` out: the running configuration has it"
                                    : fmt::format("add `speed: {:g}G` to these ports",
                                                  static_cast<double>(speed) / kGigabit);
  return problem;
}

void check_asic(const Intent& intent, const SwitchIntent& device, std::vector<Problem>& problems) {
  const SiteConfig& site = *device.site;
  if (site.asic.empty() || device.asic == site.asic || device.asic == "generic") return;
  Problem problem = problem_at(intent, device,
                               fmt::format("the intent states {}, but {} says {}, which has {}",
                                           device.asic, site.source, site.hardware, site.asic));
  problem.seen = "asic: " + device.asic;
  problem.expected = site.asic;
  problem.hint = "import this switch's own file, or correct `asic`";
  problems.push_back(std::move(problem));
}

}  // namespace

std::vector<Problem> resolve_ports(const Intent& intent, SwitchIntent& device) {
  std::vector<Problem> problems;
  if (device.site == nullptr || !device.site->imported) return problems;
  check_asic(intent, device, problems);
  if (device.site->port_facts.empty()) return problems;
  std::vector<PortGroup> settled;
  for (const PortGroup& group : device.port_groups) {
    const auto parts = by_speed(*device.site, group);
    const bool none_as_said = parts.count(group.bits_per_second) == 0;
    for (const auto& [speed, members] : parts) {
      const bool differs = speed != group.bits_per_second;
      if (differs && (group.speed_stated || none_as_said)) {
        problems.push_back(
            speed_differs(intent, device, group, group.ports[members.front()], speed));
      }
    }
    // In the order of each speed's first port in the group, so that names of patches are stable.
    std::vector<const std::pair<const std::uint64_t, std::vector<std::size_t>>*> order;
    for (const auto& part : parts)
      order.push_back(&part);
    std::sort(order.begin(), order.end(),
              [](const auto* a, const auto* b) { return a->second.front() < b->second.front(); });
    for (const auto* part : order)
      settled.push_back(part_of(group, part->first, part->second));
  }
  device.port_groups = std::move(settled);
  return problems;
}

}  // namespace dlcp::fabric
