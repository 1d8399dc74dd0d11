#include "switch/check/trace.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "switch/check/finding.h"
#include "switch/plan/remarking.h"
#include "switch/plan/units.h"

namespace dlcp::fabric {
namespace {

constexpr const char* kColours[] = {"green", "yellow", "red"};

const PortGroup* first_group(const SwitchPlan& plan, PortRole role) {
  const PortGroup* any = nullptr;
  for (const PortGroupPlan& each : plan.groups) {
    if (each.group.ports.empty()) continue;
    if (any == nullptr) any = &each.group;
    if (each.group.role == role) return &each.group;
  }
  return any;
}

// The DSCP by which the switch classifies a packet: on untrusted ports DLCP's marks count as the
// remark DSCP.
std::uint8_t classed_as(const SwitchPlan& plan, const PortGroup& in, std::uint8_t dscp) {
  const bool ours = plan.dscp[dscp].owner == Owner::kDlcp;
  return ours && in.trust == Trust::kRemarked ? in.remark_dscp : dscp;
}

std::uint8_t class_at(const SwitchPlan& plan, std::uint8_t dscp) {
  const DscpRow& row = plan.dscp[dscp];
  return row.mapped ? row.traffic_class
                    : plan.site->unmapped_class.value_or(plan.site->default_class);
}

const QueuePlan* queue_at(const SwitchPlan& plan, const PortGroup& out, std::uint8_t queue) {
  for (const PortGroupPlan& each : plan.groups) {
    if (each.group.line != out.line || each.group.ports != out.ports) continue;
    for (const QueuePlan& one : each.queues)
      if (one.queue == queue) return &one;
  }
  return nullptr;
}

std::string treatment_of(const QueuePlan& queue, const Level& level) {
  if (level.drop_bytes) return "dropped from " + bytes_text(*level.drop_bytes);
  if (queue.mark_bytes && level.ect) return "marked from " + bytes_text(*queue.mark_bytes);
  return "to the queue's limit";
}

void describe(Hop& hop, const SwitchPlan& plan, const PortGroup& out, std::uint8_t dscp) {
  const DscpRow& row = plan.dscp[dscp];
  hop.traffic_class = class_at(plan, dscp);
  hop.queue = row.mapped ? row.queue
                         : plan.site->class_to_queue[*hop.traffic_class].value_or(
                               static_cast<std::uint8_t>(*hop.traffic_class % kQueueCount));
  hop.carries = "site";
  hop.colour = kColours[std::min<std::size_t>(row.drop_precedence, 2)];
  hop.treatment = "as the site configured it";
  if (row.owner != Owner::kDlcp) return;
  const QueuePlan* const queue = queue_at(plan, out, *hop.queue);
  if (queue == nullptr) return;
  hop.carries = queue->name;
  for (const Level& level : queue->levels) {
    if (std::find(level.dscps.begin(), level.dscps.end(), dscp) == level.dscps.end()) continue;
    hop.treatment = treatment_of(*queue, level);
  }
}

// A class of a tenant; tenant 0 is the first, which has no name.
struct Sent {
  std::size_t tenant = 0;
  std::string name;
  const TrafficClassRow* row = nullptr;
};

std::vector<Sent> classes_of(const SwitchPlan& plan) {
  std::vector<Sent> all;
  for (const TrafficClassRow& row : plan.classes)
    all.push_back({0, "", &row});
  for (std::size_t i = 0; i < plan.tenant_classes.size(); ++i)
    for (const TrafficClassRow& row : plan.tenant_classes[i])
      all.push_back({i + 1, plan.tenants[i], &row});
  return all;
}

// The class's part of DLCP is among those of its queue, which belongs to the class's tenant.
bool serves(const SwitchPlan& plan, const Hop& hop, const Sent& sent) {
  const TrafficClassRow& row = *sent.row;
  for (const PortGroupPlan& group : plan.groups)
    for (const QueuePlan& queue : group.queues) {
      if (queue.name != hop.carries) continue;
      if (!queue.strict && queue.tenant != sent.tenant) return false;
      return std::find(queue.carries.begin(), queue.carries.end(), row.queue) !=
             queue.carries.end();
    }
  return false;
}

bool same_treatment(const SwitchPlan& a, const SwitchPlan& b) {
  return a.os == b.os && a.version == b.version && a.asic == b.asic && a.site == b.site &&
         a.reasoning == b.reasoning;
}

// One switch of each kind among those of a role.
std::vector<const SwitchPlan*> kinds_of(const std::vector<SwitchPlan>& plans, SwitchRole role) {
  std::vector<const SwitchPlan*> kinds;
  for (const SwitchPlan& plan : plans) {
    const bool known = std::any_of(kinds.begin(), kinds.end(),
                                   [&](const auto* kind) { return same_treatment(*kind, plan); });
    if (plan.role == role && !known) kinds.push_back(&plan);
  }
  return kinds;
}

// A separate traffic class is rewritten on egress, at the fabric ports that lead to the next
// switch.
bool rewrites_on_egress(const SwitchPlan& plan, const PortGroup& in, const std::string& out) {
  if (!remark_class(plan, in)) return rewrites_marks(plan, in);
  return std::any_of(plan.groups.begin(), plan.groups.end(), [&out](const PortGroupPlan& each) {
    const auto& ports = each.group.ports;
    return each.group.role == PortRole::kFabric &&
           std::find(ports.begin(), ports.end(), out) != ports.end();
  });
}

}  // namespace

std::uint8_t leaving_dscp(const SwitchPlan& plan, const PortGroup& in, const std::string& out,
                          std::uint8_t dscp) {
  const std::uint8_t as = classed_as(plan, in, dscp);
  if (as != dscp && rewrites_on_egress(plan, in, out)) return as;
  const SitePort* const port = find_port(*plan.site, out);
  if (port == nullptr || !port->rewrites_dscps) return dscp;
  const std::uint8_t traffic_class = class_at(plan, as);
  if (traffic_class >= kTrafficClassesMax) return dscp;
  return plan.site->class_to_dscp[traffic_class].value_or(0);
}

std::optional<Endpoint> find_endpoint(const std::vector<SwitchPlan>& plans,
                                      const std::string& name) {
  const auto colon = name.find(':');
  for (const SwitchPlan& plan : plans) {
    for (const PortGroupPlan& each : plan.groups) {
      const PortGroup& group = each.group;
      const auto host = std::find(group.hosts.begin(), group.hosts.end(), name);
      if (host != group.hosts.end()) {
        const auto at = static_cast<std::size_t>(host - group.hosts.begin());
        return Endpoint{name, &plan, &group, group.ports[at]};
      }
      if (colon == std::string::npos || plan.name != name.substr(0, colon)) continue;
      const auto port = std::find(group.ports.begin(), group.ports.end(), name.substr(colon + 1));
      if (port != group.ports.end()) return Endpoint{name, &plan, &group, *port};
    }
  }
  for (const SwitchPlan& plan : plans) {
    if (plan.name != name) continue;
    const PortGroup* const group = first_group(plan, PortRole::kHost);
    if (group == nullptr || group->role != PortRole::kHost) return std::nullopt;
    return Endpoint{name, &plan, group, group->ports.front()};
  }
  return std::nullopt;
}

std::vector<std::string> endpoint_names(const std::vector<SwitchPlan>& plans) {
  std::vector<std::string> names;
  for (const SwitchPlan& plan : plans) {
    for (const PortGroupPlan& each : plan.groups)
      names.insert(names.end(), each.group.hosts.begin(), each.group.hosts.end());
    names.push_back(plan.name);
  }
  return names;
}

std::vector<std::vector<const SwitchPlan*>> paths_between(const std::vector<SwitchPlan>& plans,
                                                          const Endpoint& from,
                                                          const Endpoint& to) {
  using Path = std::vector<const SwitchPlan*>;
  if (from.device == to.device) return {Path{from.device}};
  const auto spines = kinds_of(plans, SwitchRole::kSpine);
  const auto tops = kinds_of(plans, SwitchRole::kSuperSpine);
  if (spines.empty()) return {Path{from.device, to.device}};
  std::vector<Path> paths;
  for (const SwitchPlan* up : spines) {
    if (tops.empty()) paths.push_back({from.device, up, to.device});
    for (const SwitchPlan* top : tops)
      for (const SwitchPlan* down : spines)
        paths.push_back({from.device, up, top, down, to.device});
  }
  return paths;
}

std::vector<ClassTrace> trace(const Endpoint& from, const Endpoint& to,
                              const std::vector<const SwitchPlan*>& path) {
  std::vector<ClassTrace> traces;
  for (const Sent& sent : classes_of(*from.device)) {
    const TrafficClassRow& row = *sent.row;
    ClassTrace one;
    one.traffic_class = row.traffic_class;
    one.tenant = sent.name;
    one.hops.push_back({from.host, "", row.dscp, row.dscp, {}, {}, row.name, "", "sent"});
    std::uint8_t dscp = row.dscp;
    for (std::size_t i = 0; i < path.size(); ++i) {
      const SwitchPlan& plan = *path[i];
      const bool last = i + 1 == path.size();
      const PortGroup* const in = i == 0 ? from.group : first_group(plan, PortRole::kFabric);
      const PortGroup* const out = last ? to.group : first_group(plan, PortRole::kFabric);
      if (in == nullptr || out == nullptr) break;
      Hop hop;
      hop.node = plan.name;
      hop.port = last ? to.port : out->ports.front();
      hop.dscp_in = dscp;
      describe(hop, plan, *out, classed_as(plan, *in, dscp));
      if (classed_as(plan, *in, dscp) != dscp)
        hop.traffic_class = remark_class(plan, *in).value_or(*hop.traffic_class);
      hop.dscp_out = dscp = leaving_dscp(plan, *in, hop.port, dscp);
      if (one.changed.empty() && hop.dscp_out != hop.dscp_in) {
        one.changed = fmt::format("{} {}: DSCP {} leaves as {}", plan.name, hop.port, hop.dscp_in,
                                  hop.dscp_out);
      } else if (one.changed.empty() && !serves(plan, hop, sent)) {
        one.changed = fmt::format("{} {}: served as '{}'", plan.name, hop.port, hop.carries);
      }
      one.hops.push_back(std::move(hop));
    }
    one.hops.push_back({to.host, "", dscp, dscp, {}, {}, "", "", "received"});
    traces.push_back(std::move(one));
  }
  return traces;
}

// Every class through every pair of ports, as in all possible traces.
void lint_egress(Findings& findings, const SwitchPlan& plan) {
  if (plan.site->egress_rewrite.empty()) return;
  const std::vector<Sent> sent = classes_of(plan);
  for (const PortGroupPlan& each : plan.groups) {
    PortGroup in = each.group;
    in.trust = Trust::kTrusted;
    for (const std::string& port : each.group.ports) {
      const auto found = std::find_if(sent.begin(), sent.end(), [&](const Sent& one) {
        return leaving_dscp(plan, in, port, one.row->dscp) != one.row->dscp;
      });
      if (found == sent.end()) continue;
      const TrafficClassRow* const lost = found->row;
      findings.error(
          "egress-rewrite",
          fmt::format("{} rewrites DSCPs on egress: class '{}'{} (DSCP {}) leaves as DSCP {}", port,
                      lost->name, found->name.empty() ? "" : " of tenant '" + found->name + "'",
                      lost->dscp, leaving_dscp(plan, in, port, lost->dscp)),
          plan.site->egress_rewrite, "no rewriting on the egress ports of DLCP's packets",
          "remove the rewriting from these ports; otherwise the next switch cannot distinguish "
          "DLCP's levels",
          each.group.line);
      break;
    }
  }
}

}  // namespace dlcp::fabric
