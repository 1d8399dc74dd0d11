// Checks of a switch's ports: names, link aggregates, and what happens to marks on the way out.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "switch/check/finding.h"
#include "switch/model/intent_keys.h"
#include "switch/plan/remarking.h"

namespace dlcp::fabric {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The first port of a group that the running configuration lacks, or, without one, that is not
// called as this system calls physical ports.
void check_names(Findings& findings, const SwitchPlan& plan, const PortGroup& group) {
  const auto& known = plan.site->ports;
  const std::string& prefix = plan.capabilities.port_prefix;
  for (const std::string& port : group.ports) {
    if (!known.empty()) {
      if (std::find(known.begin(), known.end(), port) != known.end()) continue;
      const std::string like =
          nearest(port, std::vector<std::string_view>(known.begin(), known.end()));
      findings.error("unknown-port", fmt::format("{} does not have this port", plan.site->source),
                     port, "", like.empty() ? "" : fmt::format("did you mean '{}'?", like),
                     group.line);
      return;
    }
    const bool physical =
        port.starts_with(prefix) && port.size() > prefix.size() && is_digit(port[prefix.size()]);
    if (prefix.empty() || physical) continue;
    findings.error("port-name", fmt::format("{} has no physical port of this name", plan.os), port,
                   fmt::format("{}N", prefix),
                   "name the members of a port channel or VLAN, not the channel itself",
                   group.line);
    return;
  }
}

void check_trust(Findings& findings, const SwitchPlan& plan, const PortGroup& group) {
  if (group.trust != Trust::kRemarked || rewrites_marks(plan, group)) return;
  const bool by_class = plan.capabilities.remarking == Remarking::kBySpareClass;
  const bool leaves_unseen = by_class && !has_uplinks(plan);
  const char* why = leaves_unseen ? ", for the intent names no port of it with role: fabric, and "
                                    "marks are rewritten as packets leave by those"
                    : by_class    ? ", for no traffic class is free to carry them alone"
                                  : "";
  findings.warning(
      "marks-survive",
      fmt::format("{} cannot rewrite DSCPs here{}: packets of untrusted ports are served as the "
                  "site's default class, but keep DLCP's marks: on the next switch a tenant's DSCP "
                  "{} is served as DLCP's control",
                  plan.os, why, plan.classes.front().dscp),
      leaves_unseen ? fmt::format("name its uplinks, too; under `ports` of the switch:\n- {{ports: "
                                  "\"{}UPLINKS\", role: fabric, speed: ...}}",
                                  plan.capabilities.port_prefix)
                    : "filter the marks at the hosts, or on the next switch",
      group.line);
}

// Link aggregates of the intent. Their members have their QoS one by one.
void check_declared_aggregates(Findings& findings, const SwitchPlan& plan) {
  std::map<std::string, const PortGroup*> lags;
  for (const PortGroupPlan& each : plan.groups) {
    const PortGroup& group = each.group;
    if (group.lag.empty()) continue;
    const auto [at, fresh] = lags.emplace(group.lag, &group);
    if (fresh) {
      findings.note("lag-members",
                    fmt::format("members of {} are configured one by one: a member added later has "
                                "none of DLCP's rows",
                                group.lag),
                    "render again when members change; its hash needs the UDP source port, too");
    } else if (at->second->bits_per_second != group.bits_per_second ||
               at->second->trust != group.trust) {
      findings.error("uneven-lag", "members of a link aggregate differ in speed or trust",
                     group.lag, "members alike", "", group.line);
    }
  }
}

// Link aggregates of the running configuration.
void check_imported_aggregates(Findings& findings, const SwitchPlan& plan) {
  std::map<std::string, const PortGroup*> group_of;
  for (const PortGroupPlan& group : plan.groups)
    for (const std::string& port : group.group.ports)
      group_of[port] = &group.group;
  std::map<std::string, const PortGroup*> first;
  std::set<std::string> said;
  for (const SitePort& port : plan.site->port_facts) {
    if (port.lag.empty()) continue;
    const auto group = group_of.find(port.name);
    const PortGroup* const here = group == group_of.end() ? nullptr : group->second;
    if (here != nullptr && !here->lag.empty() && here->lag != port.lag) {
      findings.error("other-lag",
                     fmt::format("the intent says that {} is in {}, and {} says {}", port.name,
                                 here->lag, plan.site->source, port.lag),
                     here->lag, port.lag, "correct `lag`, or leave it out", here->line);
    }
    const auto [at, fresh] = first.emplace(port.lag, here);
    if (fresh) continue;
    const bool alike = (here == nullptr) == (at->second == nullptr) &&
                       (here == nullptr || (here->trust == at->second->trust &&
                                            here->bits_per_second == at->second->bits_per_second));
    if (alike || !said.insert(port.lag).second) continue;
    findings.error("uneven-lag",
                   fmt::format("{} and other members of {} ({}) differ in speed or trust, or are "
                               "not all in the intent",
                               port.name, port.lag, plan.site->source),
                   port.lag, "all members, alike", "list every member in one port group");
  }
}

}  // namespace

void lint_ports(Findings& findings, const SwitchPlan& plan) {
  for (const PortGroupPlan& group : plan.groups) {
    check_names(findings, plan, group.group);
    check_trust(findings, plan, group.group);
  }
  check_declared_aggregates(findings, plan);
  check_imported_aggregates(findings, plan);
}

}  // namespace dlcp::fabric
