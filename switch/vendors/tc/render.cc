// A plan as one bash script: the template writes its tables (ports, queues, filters); the engine
// below them is the same in every script.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string>

#include "switch/vendors/embedded.h"
#include "switch/vendors/tc/tc_parts.h"
#include "switch/vendors/tc/tree.h"

namespace dlcp::fabric::tc {
namespace {

bool is_interface_name(const std::string& name) {
  return !name.empty() && name.size() <= 15 && name != "." && name != ".." &&
         std::all_of(
             name.begin(), name.end(),
             [](unsigned char c) {
               return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == '@';
             });
}

Problem problem_at(const PortGroupPlan& group, std::string what, std::string seen,
                   std::string expected, std::string hint) {
  return {.severity = Severity::kError,
          .file = {},
          .line = group.group.line,
          .what = std::move(what),
          .seen = std::move(seen),
          .expected = std::move(expected),
          .hint = std::move(hint)};
}

// False for trees of the site: anything but the kernel's own queue, or a token bucket without
// children.
bool may_attach(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    if (line.starts_with("qdisc clsact") || line.starts_with("qdisc ingress")) return false;
    if (line.find(" root") == std::string::npos) continue;
    const bool by_kernel = line.find(" 0: root") != std::string::npos;
    if (!by_kernel && !(line.starts_with("qdisc tbf ") && lines.size() == 1)) return false;
  }
  return true;
}

std::vector<Problem> problems_of(const SwitchPlan& plan) {
  std::vector<Problem> problems;
  const auto* import = dynamic_cast<const Import*>(plan.site->document.get());
  for (const PortGroupPlan& group : plan.groups) {
    for (const std::string& port : group.group.ports) {
      if (!is_interface_name(port)) {
        problems.push_back(problem_at(group, "this is not a name of a network interface", port,
                                      "1 to 15 letters, digits or _ - . @",
                                      "use the names that `ip link` shows"));
      }
      if (import == nullptr) continue;
      const auto found = import->qdiscs.find(port);
      if (found == import->qdiscs.end()) {
        problems.push_back(problem_at(group, "port is not in the imported configuration", port,
                                      "a device of " + plan.site->source,
                                      "import `tc qdisc show` of this switch, all devices"));
      } else if (!may_attach(found->second)) {
        problems.push_back(problem_at(
            group, "port " + port + " has queues or filters of the site", found->second.front(),
            "the kernel's default queue, or a single tbf",
            "DLCP's queues cannot be merged with them: remove them first, or leave the port out"));
      }
    }
    for (const QueuePlan& queue : group.queues) {
      const std::uint64_t most = std::max(queue.limit_bytes, queue.mark_bytes.value_or(0));
      if (most > kThresholdMax) {
        problems.push_back(problem_at(
            group, "depth of queue " + queue.name + " exceeds tc's maximum", std::to_string(most),
            "at most " + std::to_string(kThresholdMax) + " bytes", "lower the switch's buffer"));
      }
    }
  }
  return problems;
}

ReportNote seen(std::string text) {
  return {.severity = Severity::kNote, .text = std::move(text), .verified = true};
}

ReportNote unseen(std::string text) {
  return {.severity = Severity::kWarning, .text = std::move(text), .verified = false};
}

std::vector<ReportNote> notes_of(const SwitchPlan& plan) {
  std::vector<ReportNote> notes{
      seen("Drop levels are virtual queues of gred: the packets of each are dropped above its own "
           "depth of the whole queue, and counted separately."),
      seen("Marking depends on an average with weight 1/2 (the smallest that tc accepts), which is "
           "at most one packet behind the momentary depth."),
      seen("Depths count packets with their Ethernet headers. They do not include packets in a "
           "network card's ring: keep byte queue limits on."),
      unseen("Packets with a VLAN tag are not classified and go to the default queue."),
  };
  if (plan.site->pfc_priorities != 0) {
    notes.push_back(
        unseen("tc has no PFC: the site's lossless queue is an ordinary weighted queue here."));
  }
  const bool lag = std::any_of(plan.groups.begin(), plan.groups.end(),
                               [](const auto& group) { return !group.group.lag.empty(); });
  if (lag) {
    notes.push_back(unseen(
        "The members of a bond get the queues; the bond itself must have none (the default)."));
  }
  return notes;
}

}  // namespace

Rendering render_script(const Sections& templates, const SwitchPlan& plan) {
  Rendering rendering;
  rendering.problems = problems_of(plan);
  if (has_errors(rendering.problems)) return rendering;
  rendering.files.push_back(
      {.path = "dlcp-qos.sh",
       .text = templates.filled("script", script_context(plan)) + std::string(embedded::kTcEngine),
       .kind = FileKind::kConfig,
       .grammar_checked = true,
       .executable = true});
  rendering.files.push_back(
      {.path = "rollback.sh",
       .text = "#!/bin/bash\n# Removes DLCP's queues and restores the previous ones.\nexec "
               "\"$(dirname \"$0\")/dlcp-qos.sh\" rollback \"$@\"\n",
       .kind = FileKind::kRollback,
       .grammar_checked = true,
       .executable = true});
  for (const PortGroupPlan& group : plan.groups) {
    const std::size_t bands = tree_of(plan, group).bands.size();
    for (const std::string& port : group.group.ports) {
      // Packets in the old tree at that moment are dropped.
      rendering.changes.push_back({.row = "qdisc dev " + port,
                                   .before = "the kernel's default, or the site's tbf",
                                   .after = fmt::format("ets {:x}: with {} bands", kHandle, bands),
                                   .impact = Impact::kDropsTraffic});
      rendering.changes.push_back({.row = "filter dev " + port,
                                   .before = "",
                                   .after = "clsact: DSCP to band and level",
                                   .impact = Impact::kHitless});
    }
  }
  rendering.notes = notes_of(plan);
  return rendering;
}

}  // namespace dlcp::fabric::tc
