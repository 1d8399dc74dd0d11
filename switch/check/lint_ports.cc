// Checks of a switch's ports: names, link aggregates, and the treatment of marks on egress.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "switch/check/finding.h"
#include "switch/model/intent_file/intent_keys.h"
#include "switch/plan/remarking.h"

namespace dlcp::fabric {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// '#' stands for a number and '*' for letters, as many as there are: the next character is of
// another kind, except in "*GigE", whose letters end where the rest begins.
bool has_shape(std::string_view name, std::string_view shape) {
  if (shape.empty()) return name.empty();
  const auto rest = shape.substr(1);
  if (shape.front() == '#') {
    const auto end = std::find_if_not(name.begin(), name.end(), is_digit);
    const auto digits = static_cast<std::size_t>(end - name.begin());
    return digits > 0 && has_shape(name.substr(digits), rest);
  }
  if (shape.front() != '*')
    return !name.empty() && name.front() == shape.front() && has_shape(name.substr(1), rest);
  for (std::size_t letters = 0; letters < name.size() && is_letter(name[letters]); ++letters)
    if (has_shape(name.substr(letters + 1), rest)) return true;
  return false;
}

// "EthernetN or EthernetN/N".
std::string shapes_text(const std::vector<std::string>& shapes) {
  std::string text;
  for (const std::string& shape : shapes)
    text += (text.empty() ? "" : &shape == &shapes.back() ? " or " : ", ") + shape;
  std::replace(text.begin(), text.end(), '#', 'N');
  return text;
}

// Reports the first port of a group that is not in the running configuration or, without one, whose
// name does not have the form of this system's physical ports.
void check_names(Findings& findings, const SwitchPlan& plan, const PortGroup& group) {
  const auto& known = plan.site->ports;
  const auto& shapes = plan.capabilities.port_shapes;
  for (const std::string& port : group.ports) {
    if (!known.empty()) {
      if (std::find(known.begin(), known.end(), port) != known.end()) continue;
      const std::string like =
          nearest(port, std::vector<std::string_view>(known.begin(), known.end()));
      findings.error("unknown-port",
                     fmt::format("{} does not contain this port", plan.site->source), port, "",
                     like.empty() ? "" : fmt::format("did you mean '{}'?", like), group.line);
      return;
    }
    const auto is_among = [&port](const std::vector<std::string>& list) {
      return std::any_of(list.begin(), list.end(),
                         [&port](const auto& shape) { return has_shape(port, shape); });
    };
    const bool physical =
        shapes.empty() ? !is_among(plan.capabilities.no_port_shapes) : is_among(shapes);
    if (physical) continue;
    findings.error("port-name", fmt::format("{} has no physical port of this name", plan.os), port,
                   shapes.empty() ? "a physical port" : shapes_text(shapes),
                   "name physical ports: the members of a port channel or VLAN instead of the "
                   "channel, and ports instead of their subinterfaces",
                   group.line);
    return;
  }
}

void check_trust(Findings& findings, const SwitchPlan& plan, const PortGroup& group) {
  if (group.trust != Trust::kRemarked || rewrites_marks(plan, group)) return;
  const bool by_class = plan.capabilities.remarking == Remarking::kBySpareClass;
  const bool leaves_unseen = by_class && !has_uplinks(plan);
  const char* why = leaves_unseen ? ", because the intent lists no port of this switch with role: "
                                    "fabric, at which DSCPs would be rewritten"
                    : by_class    ? ", because no traffic class is free for these packets"
                                  : "";
  findings.warning(
      "marks-survive",
      fmt::format("{} cannot rewrite DSCPs here{}: packets from untrusted ports are served in the "
                  "site's default class but keep their DSCPs. The next switch serves DSCP {} from "
                  "such a port as DLCP's control class",
                  plan.os, why, plan.classes.front().dscp),
      leaves_unseen ? fmt::format("list its uplinks, too, under `ports` of the switch:\n- {{ports: "
                                  "\"{}UPLINKS\", role: fabric, speed: ...}}",
                                  plan.capabilities.port_prefix)
                    : "rewrite these DSCPs at the hosts, or on the next switch",
      group.line);
}

void note_members(Findings& findings, const std::string& lag) {
  findings.note(
      "lag-members",
      fmt::format(
          "DLCP's rows belong to the single members of {}: a member that is added later has none",
          lag),
      "render again when members change; the hash of the aggregate also needs the UDP source port");
}

// Link aggregates of the intent. QoS applies to their members one by one.
void check_declared_aggregates(Findings& findings, const SwitchPlan& plan) {
  std::map<std::string, const PortGroup*> lags;
  for (const PortGroupPlan& each : plan.groups) {
    const PortGroup& group = each.group;
    if (group.lag.empty()) continue;
    const auto [at, fresh] = lags.emplace(group.lag, &group);
    if (fresh) {
      note_members(findings, group.lag);
    } else if (at->second->bits_per_second != group.bits_per_second ||
               at->second->trust != group.trust) {
      findings.error("uneven-lag", "members of a link aggregate differ in speed or trust",
                     group.lag, "members with equal speed and trust", "", group.line);
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
  std::set<std::string> said, noted;
  for (const SitePort& port : plan.site->port_facts) {
    if (port.lag.empty()) continue;
    const auto group = group_of.find(port.name);
    const PortGroup* const here = group == group_of.end() ? nullptr : group->second;
    if (here != nullptr && !here->lag.empty() && here->lag != port.lag) {
      findings.error("other-lag",
                     fmt::format("the intent lists {} as a member of {}, but {} says {}", port.name,
                                 here->lag, plan.site->source, port.lag),
                     here->lag, port.lag, "correct `lag`, or leave it out", here->line);
    }
    if (here != nullptr && here->lag.empty() && noted.insert(port.lag).second)
      note_members(findings, port.lag);
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
                   port.lag, "all members, with equal speed and trust",
                   "list every member in one port group");
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
