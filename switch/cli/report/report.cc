#include "switch/cli/report/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "switch/cli/report/message_list.h"
#include "switch/cli/report/plan_text.h"

namespace dlcp::fabric::cli {
namespace {

std::string heading(const SwitchPlan& plan) {
  const Capabilities& can = plan.capabilities;
  std::string text =
      fmt::format("# {}: DLCP on {} {}, {}{}, {}\n\n", plan.name, plan.os, plan.version, plan.asic,
                  plan.sku.empty() ? "" : " " + plan.sku, name_of(plan.role));
  text += can.seen_working
              ? "This project's tests have configured and measured this kind of switch.\n"
              : "**Not verified on hardware**: this project has not applied this configuration to "
                "such a switch.\n";
  text += fmt::format(
      "The site's configuration comes from {} ({}). Rows that are not listed as changed below stay "
      "as they are.\n\n",
      plan.site->source, plan.site->imported ? "imported" : "declared");
  return text;
}

std::string features_of(const SwitchPlan& plan) {
  const PlannedFeatures& features = plan.features;
  std::string text;
  if (features.trimming)
    text += fmt::format(
        "- Packets that do not fit into a full weighted queue are cut to {}, marked with DSCP {} "
        "and forwarded through queue {}.\n",
        features.trimming->size_bytes == 0 ? std::string("the switch's default size")
                                           : fmt::format("{} bytes", features.trimming->size_bytes),
        features.trimming->dscp, features.trimming->queue);
  if (features.load_balancing)
    text += fmt::format("- The switch chooses among equal paths by load for every {}.\n",
                        *features.load_balancing == LoadBalancing::kPacket ? "packet" : "flowlet");
  if (features.pfc_watchdog)
    text += fmt::format(
        "- A watchdog ends pause storms on the site's lossless priorities after {} ms and ignores "
        "pause frames for at least {} ms.\n",
        features.pfc_watchdog->detect_ms, features.pfc_watchdog->restore_ms);
  for (std::size_t i = 0; i < plan.tenants.size() && !plan.groups.empty(); ++i) {
    double share = 0;
    for (const QueuePlan& queue : plan.groups.front().queues)
      share += queue.tenant == i + 1 ? queue.share_percent : 0;
    text += fmt::format(
        "- Tenant {} has {:.0f}% of a busy link in its own queues; all tenants share the control "
        "queue.\n",
        plan.tenants[i], share);
  }
  if (features.hash_seed) text += fmt::format("- The hash seed is {}.\n", *features.hash_seed);
  return text.empty() ? "" : text + "\n";
}

// The hash fields that spread DLCP over paths.
std::string hashing_of(const Rendering& rendering) {
  const bool written =
      std::any_of(rendering.changes.begin(), rendering.changes.end(), [](const Change& change) {
        return change.row.find("ecmp-hash") != std::string::npos && !change.after.empty();
      });
  if (written)
    return "The UDP source port, which spreads DLCP over paths, is added to the fields of ECMP "
           "hashes, also for the site's traffic. The other fields and the LAG hashes are not "
           "changed.\n\n";
  return "The fields of ECMP and LAG hashes are not changed. They must include the UDP source "
         "port, which spreads DLCP over paths.\n\n";
}

std::string expression(const SwitchPlan& plan, const Rendering& rendering) {
  std::string text = "## Queues, drop levels and features\n\n";
  switch (plan.capabilities.mechanism) {
    case Mechanism::kColour:
      text +=
          "Drop levels share a queue; the drop precedence of the DSCP selects the drop depth.\n\n";
      break;
    case Mechanism::kEct:
      text +=
          "Drop levels share a queue; above one depth ECN-capable packets are marked and other "
          "packets are dropped.\n\n";
      break;
    case Mechanism::kQueues:
      text +=
          "Each drop level has its own queue, because this target is not known to drop and mark "
          "correctly in one queue.\n\n";
      break;
  }
  text += queue_tables(plan);
  text += features_of(plan);
  text += hashing_of(rendering);
  text += "## Merged classes and levels\n\n";
  for (const Merge& merge : plan.merges)
    text += fmt::format("- {}, because {}.\n", merge.what, merge.reason);
  return text + (plan.merges.empty() ? "Nothing.\n\n" : "\n");
}

// "WRED_PROFILE|DLCP_1" and similar rows share a line of the table.
std::string group_of(const std::string& row) {
  const auto bar = row.find('|');
  if (bar != std::string::npos) return row.substr(0, bar);
  const auto group = row.substr(0, row.find_first_of("0123456789[:"));
  return group.substr(0, group.find_last_not_of(" -") + 1);
}

std::string changes_of(const Rendering& rendering) {
  struct Group {
    int added = 0, changed = 0, removed = 0;
  };
  std::map<std::pair<std::string, Impact>, Group> groups;
  for (const Change& change : rendering.changes) {
    Group& group = groups[{group_of(change.row), change.impact}];
    if (change.before.empty())
      ++group.added;
    else
      ++(change.after.empty() ? group.removed : group.changed);
  }
  std::string text = "## Changes\n\n";
  if (groups.empty()) return text + "None: the configuration is as planned.\n\n";
  text += "| rows | added | changed | removed | effect on traffic |\n|---|---|---|---|---|\n";
  for (const auto& [key, group] : groups) {
    text += fmt::format("| {} | {} | {} | {} | {} |\n", key.first, group.added, group.changed,
                        group.removed, name_of(key.second));
  }
  return text + "\n`dlcp-switch diff` lists every row.\n\n";
}

// A Markdown list with each hint once.
std::string list_of(const std::vector<Problem>& found) {
  std::vector<Message> messages;
  for (const Problem& problem : found)
    messages.push_back({"- " + problem.what, kind_of(problem.what), problem.hint, ""});
  return message_list(messages, true);
}

std::string uncertainties(const SwitchPlan& plan, const Rendering& rendering,
                          const std::vector<Problem>& found) {
  std::string text = "## Notes, and what is not verified\n\n";
  for (const std::string& sentence : plan.capabilities.unverified)
    text += "- " + sentence + '\n';
  for (const ReportNote& note : rendering.notes)
    text += fmt::format("- {}{}\n", note.text, note.verified ? " (tested)" : "");
  text += list_of(found);
  if (plan.capabilities.tolerance > 0) {
    text += fmt::format(
        "- Hardware rounds depths: a difference of up to {:.0f}% from the plan is expected.\n",
        plan.capabilities.tolerance * 100);
  }
  text += '\n';
  return text;
}

bool is_guard(const OutputFile& file) {
  return file.path.starts_with("guard/");
}

std::string_view purpose_of(const OutputFile& file) {
  constexpr const char* kKinds[] = {"configuration", "rollback of DLCP's rows", "verification",
                                    "for tests, not for the switch"};
  if (file.executable) return file.kind == FileKind::kRollback ? "rollback script" : "script";
  if (is_guard(file)) return "rows for the comparison by guard.py";
  if (file.path == "session.sh") return "commands that apply.sh sends to the switch";
  return kKinds[static_cast<int>(file.kind)];
}

// The check of a file before it is written.
std::string_view check_of(const OutputFile& file) {
  if (file.executable || is_guard(file) || file.kind == FileKind::kArtefact)
    return "this project's tests, with simulated switches";
  if (!file.checked_by.empty()) return file.checked_by;
  return file.grammar_checked ? "a table of ranges" : "nothing";
}

}  // namespace

std::string report_text(const SwitchPlan& plan, const Rendering& rendering,
                        const std::vector<VerifyCommand>& commands,
                        const std::vector<Problem>& found, const std::string& step) {
  std::string text = heading(plan) + expression(plan, rendering) + changes_of(rendering) +
                     uncertainties(plan, rendering, found);
  text += "## Files\n\n| file | content | checked by |\n|---|---|---|\n";
  for (const OutputFile& file : rendering.files)
    text += fmt::format("| {} | {} | {} |\n", file.path, purpose_of(file), check_of(file));
  text += fmt::format(
      "\n## When\n\n{}\n\nWait 30 minutes under load after a canary, and 10 minutes after a batch. "
      "Stop and roll back at:\n\n{}",
      step, abort_thresholds(plan));
  text += "\n## Commands to check the result\n\n```\n";
  for (const auto& [command, shows] : commands)
    text += fmt::format("{}    # {}\n", command, shows);
  return text + "```\n";
}

std::string fabric_text(const Intent& intent, const std::vector<CanaryStep>& steps,
                        const std::vector<Problem>& found) {
  std::string text = fmt::format(
      "# {}: order of change\n\nA switch without DLCP's rows serves DLCP in its default class, so "
      "the change may end after any step. REPORT.md of each switch lists the conditions for "
      "stopping.\n\n",
      intent.fabric.name);
  text +=
      "0. Drain jobs from the hosts behind the ports that change: on SONiC a port is down for "
      "minutes while its rows change (REPORT.md has the time). `apply.sh --drain` moves routed "
      "traffic away from a switch while its uplinks change (TSA before, TSB after). `dlcp-switch "
      "rollout` writes these steps for Ansible.\n";
  int number = 0;
  for (const CanaryStep& step : steps) {
    text += fmt::format("{}. {}: ", ++number, step.title);
    for (std::size_t i = 0; i < step.switches.size(); ++i)
      text += (i == 0 ? "" : ", ") + step.switches[i];
    text += '\n';
  }
  text +=
      "\nOther packets that hosts send with DLCP's DSCPs and without ECN (ping, BFD, congestion "
      "notifications, TCP without ECN) are dropped early like DLCP's, because switches cannot "
      "distinguish them.\n"
      "\n## Notes on the whole fabric\n\n";
  text += list_of(found);
  return text + (found.empty() ? "Nothing to note.\n" : "");
}

}  // namespace dlcp::fabric::cli
