// Names of the intent's enumerations and switches, as in files, reports and errors.
#include "switch/model/intent.h"

#include <fmt/core.h>

#include <algorithm>

namespace dlcp::fabric {

const char* name_of(SwitchRole role) {
  switch (role) {
    case SwitchRole::kLeaf:
      return "leaf";
    case SwitchRole::kSpine:
      return "spine";
    case SwitchRole::kSuperSpine:
      return "superspine";
    case SwitchRole::kOther:
      break;
  }
  return "other";
}

const char* name_of(PortRole role) {
  return role == PortRole::kHost ? "host" : "fabric";
}

const char* name_of(SwitchQueue queue) {
  switch (queue) {
    case SwitchQueue::kStrictHigh:
      return "control";
    case SwitchQueue::kExact:
      return "exact";
    case SwitchQueue::kUrgent:
      return "urgent";
    case SwitchQueue::kBulk:
      break;
  }
  return "bulk";
}

const SitePort* find_port(const SiteConfig& site, const std::string& name) {
  const auto at = std::lower_bound(
      site.port_facts.begin(), site.port_facts.end(), name,
      [](const SitePort& port, const std::string& key) { return port.name < key; });
  return at == site.port_facts.end() || at->name != name ? nullptr : &*at;
}

const DlcpIntent& tenant_of(const Intent& intent, std::size_t tenant) {
  return tenant == 0 ? intent.dlcp : intent.tenants[tenant - 1].dlcp;
}

std::uint64_t dscps_of(const Intent& intent) {
  std::uint64_t dscps = 0;
  for (std::size_t tenant = 0; tenant <= intent.tenants.size(); ++tenant)
    for (const TrafficClassRow& row : tenant_of(intent, tenant).classes)
      dscps |= std::uint64_t{1} << row.dscp;
  return dscps;
}

Problem problem_at(const Intent& intent, const SwitchIntent& device, std::string what) {
  Problem problem;
  problem.file = intent.file;
  problem.line = device.line;
  problem.what = fmt::format("{} on switch '{}'", what, device.name);
  return problem;
}

}  // namespace dlcp::fabric
