#include "switch/check/lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "switch/capability/targets.h"
#include "switch/check/finding.h"
#include "switch/plan/queues/site_use.h"
#include "switch/plan/units.h"

namespace dlcp::fabric {
namespace {

bool has_bit(std::uint64_t bits, unsigned position) {
  return (bits >> position & 1) != 0;
}

// No row of DLCP may affect a class that PFC protects: PFC on a lossy queue stops the fabric under
// loss, and drops in a lossless queue break RoCE.
void check_lossless(Findings& findings, const SwitchPlan& plan) {
  for (const QueuePlan& queue : plan.groups.front().queues) {
    const SiteQueue& row = plan.site->queues[queue.queue];
    if (has_bit(plan.site->pfc_priorities, queue.queue) ||
        has_bit(plan.site->pfc_priorities, queue.traffic_class)) {
      findings.error("pfc-on-dlcp-queue",
                     fmt::format("PFC is on for queue {} or class {}, which DLCP's '{}' uses",
                                 queue.queue, queue.traffic_class, queue.name));
    }
    if (row.lossless) {
      findings.error("lossless-dlcp-queue",
                     fmt::format("queue {} of DLCP's '{}' is lossless", queue.queue, queue.name));
    }
  }
  for (const SiteQueue& row : plan.site->queues) {
    if (!row.trimming) continue;
    if (row.lossless || has_bit(plan.site->pfc_priorities, row.queue)) {
      findings.error("trimming-on-lossless",
                     fmt::format("queue {} of the site is lossless and trims packets", row.queue),
                     "", "either PFC or trimming: a lossless queue must not trim");
    }
  }
}

// The switch's own BGP, LACP and BFD packets are not-ECT: early drops in their queue break
// sessions.
void check_control_plane(Findings& findings, const SwitchPlan& plan) {
  const int queue = plan.capabilities.control_plane_queue;
  for (const QueuePlan& ours : plan.groups.front().queues) {
    if (ours.queue != queue) continue;
    const bool drops = std::any_of(ours.levels.begin(), ours.levels.end(),
                                   [](const Level& level) { return level.drop_bytes.has_value(); });
    if (drops || ours.mark_bytes) {
      findings.error("control-plane-queue",
                     fmt::format("DLCP's '{}' marks or drops in queue {}, which also carries the "
                                 "switch's own BGP, LACP and BFD packets",
                                 ours.name, queue));
    } else {
      findings.warning("control-plane-queue",
                       fmt::format("DLCP's '{}' shares queue {} with the switch's own BGP, LACP "
                                   "and BFD packets, so its rate limit applies to them, too",
                                   ours.name, queue),
                       "leave this queue out of site.may_take_queues if another one is free");
    }
  }
}

// 1, 2, 3, 5 -> "1-3,5"; in ascending order.
std::string ranges_text(const std::vector<unsigned>& numbers) {
  std::string text;
  for (std::size_t first = 0, next = 0; first < numbers.size(); first = next) {
    for (next = first + 1; next < numbers.size() && numbers[next] == numbers[next - 1] + 1;)
      ++next;
    text += fmt::format("{}{}", first == 0 ? "" : ",", numbers[first]);
    if (next > first + 1) text += fmt::format("-{}", numbers[next - 1]);
  }
  return text;
}

// Requested properties that the plan lacks; REPORT.md lists them, too.
void check_merges(Findings& findings, const SwitchPlan& plan) {
  for (const Merge& merge : plan.merges)
    findings.warning("merged", merge.what, "because " + merge.reason);
}

void check_given_queues(Findings& findings, const SwitchPlan& plan) {
  std::vector<unsigned> dscps;
  for (const std::uint8_t dscp : dscps_in_given_queues(*plan.site, plan.dlcp_dscps))
    dscps.push_back(dscp);
  if (dscps.empty()) return;
  findings.warning("shared-queue",
                   "packets of the site with DSCP " + ranges_text(dscps) +
                       " use queues that site.may_take_queues gives to DLCP: they are marked, "
                       "dropped and rate-limited like "
                       "DLCP's packets",
                   "make sure that no host sends them, or map them to the default class");
}

// Some systems make queues lossless by default. If DLCP uses such a queue, PFC also pauses DLCP's
// packets.
void check_system_classes(Findings& findings, const SwitchPlan& plan) {
  for (const int own : plan.capabilities.lossless_queues)
    for (const QueuePlan& queue : plan.groups.front().queues) {
      if (queue.queue != own || !has_bit(plan.site->permitted_queues, queue.queue)) continue;
      findings.warning("system-lossless-queue",
                       fmt::format("DLCP's '{}' uses queue {}, which the system's default "
                                   "configuration makes lossless",
                                   queue.name, own),
                       "leave this queue out of site.may_take_queues, or make it lossy");
    }
}

// All 64 DSCPs: the site's are unchanged, each of DLCP's occurs once.
void check_dscps(Findings& findings, const SwitchPlan& plan) {
  std::vector<unsigned> unmapped;
  for (unsigned dscp = 0; dscp < kDscpCount; ++dscp) {
    const DscpRow& row = plan.dscp[dscp];
    const auto before = plan.site->dscp_to_class[dscp];
    if (row.owner == Owner::kSite && row.mapped != before.has_value())
      findings.error("site-row-changed", fmt::format("the site's row of DSCP {} changes", dscp));
    if (row.owner == Owner::kSite && before && row.traffic_class != *before)
      findings.error("site-row-changed", fmt::format("the site's row of DSCP {} changes", dscp));
    if (row.owner == Owner::kSite && !row.mapped) unmapped.push_back(dscp);
  }
  if (!unmapped.empty()) {
    findings.warning(
        "unmapped-dscps",
        plan.site->unmapped_class
            ? fmt::format("DSCPs {} are not in the site's map: they belong to class {}",
                          ranges_text(unmapped), *plan.site->unmapped_class)
            : fmt::format(
                  "DSCPs {} are not in the site's map: their treatment depends on the switch",
                  ranges_text(unmapped)),
        "list all 64 DSCPs in the site's map");
  }
  for (const TrafficClassRow& row : plan.classes) {
    const char* used = nullptr;
    if (row.dscp == 3 || row.dscp == 4) used = "the lossless classes of SONiC's default map";
    if (row.dscp >= 24 && row.dscp <= 31) used = "RoCE or voice signalling (CS3, AF3x)";
    if (row.dscp == 46) used = "expedited forwarding";
    if (row.dscp == 48 || row.dscp == 56) used = "routing protocols and congestion notification";
    if (used == nullptr) continue;
    findings.warning(
        "customary-dscp",
        fmt::format("DSCP {} of class '{}' is commonly used for {}", row.dscp, row.name, used),
        "make sure that no host or switch of the fabric uses it for that");
  }
}

void check_depths(Findings& findings, const SwitchPlan& plan, const SwitchIntent& device) {
  const Capabilities& can = plan.capabilities;
  const std::uint64_t pool =
      device.lossy_pool_bytes != 0 ? device.lossy_pool_bytes : plan.site->lossy_pool_bytes;
  const std::uint64_t asked = pool + plan.site->lossless_headroom_bytes;
  if (can.buffer_bytes != 0 && asked > can.buffer_bytes) {
    findings.error("beyond-buffer",
                   "the lossy pool and the lossless headroom exceed the chip's buffer",
                   bytes_text(asked),
                   fmt::format("at most {} on {}", bytes_text(can.buffer_bytes), plan.asic));
  }
  for (const PortGroupPlan& group : plan.groups) {
    for (const QueuePlan& queue : group.queues) {
      const std::string where = fmt::format("queue {} ({}) at {}", queue.queue, queue.name,
                                            rate_text(group.group.bits_per_second));
      std::uint64_t last = 0;
      for (const Level& level : queue.levels) {
        if (!level.drop_bytes) continue;
        if (*level.drop_bytes <= last)
          findings.error("level-order",
                         where + ": the drop depths are not in the order of the levels");
        last = *level.drop_bytes;
      }
      const std::uint64_t deepest = std::max(last, queue.mark_bytes.value_or(0));
      if (deepest > queue.limit_bytes) {
        findings.error("beyond-limit", where + ": a threshold is above the queue's limit",
                       bytes_text(deepest), "at most " + bytes_text(queue.limit_bytes));
      }
      if (deepest + can.cell_bytes > can.threshold_bytes_max) {
        findings.error("out-of-range", where + ": a threshold exceeds the target's range",
                       std::to_string(deepest), std::to_string(can.threshold_bytes_max));
      }
    }
  }
}

void warn_of_unshaped(Findings& findings, const std::vector<unsigned>& queues) {
  const bool one = queues.size() == 1;
  findings.warning("unshaped-strict",
                   fmt::format("strict queue{} {} of the site {} no rate limit: {} can starve the "
                               "queues that are served after {}",
                               one ? "" : "s", fmt::join(queues, ", "), one ? "has" : "have",
                               one ? "it" : "they", one ? "it" : "them"),
                   one ? "give it a rate limit, as DLCP's strict queue has"
                       : "give them rate limits, as DLCP's strict queue has");
}

void check_scheduling(Findings& findings, const SwitchPlan& plan, std::uint8_t used) {
  double total = 0;
  for (const QueuePlan& queue : plan.groups.front().queues)
    total += queue.strict ? 0 : queue.weight;
  for (const SiteQueue& row : plan.site->queues)
    if (has_bit(used, row.queue) && !row.strict) total += row.weight.value_or(0);
  std::vector<unsigned> unshaped;
  for (const SiteQueue& row : plan.site->queues) {
    if (!has_bit(used, row.queue)) continue;
    if (row.strict && !row.shaped_bits_per_second) unshaped.push_back(row.queue);
    if (row.strict || !row.weight || total <= 0) continue;
    const double share = 100.0 * *row.weight / total;
    if (share >= 2) continue;
    findings.warning(
        "starved-class",
        fmt::format("queue {} of the site gets {:.1f}% of a busy link", row.queue, share),
        "raise its weight, or lower dlcp.shares");
  }
  if (!unshaped.empty()) warn_of_unshaped(findings, unshaped);
  for (const PortGroupPlan& group : plan.groups) {
    for (const QueuePlan& queue : group.queues) {
      if (queue.strict && (queue.shape_bits_per_second == 0 ||
                           queue.shape_bits_per_second * 5 > group.group.bits_per_second)) {
        findings.error(
            "unshaped-strict",
            fmt::format("the rate limit of strict queue {} is above 20% of the link", queue.queue));
      }
      if (!queue.strict && queue.share_percent < 1) {
        findings.error(
            "starved-class",
            fmt::format("queue {} ({}) gets less than 1% of a busy link", queue.queue, queue.name));
      }
    }
  }
}

void check_senders(Findings& findings, const SwitchPlan& plan) {
  const bool shed_by_ect =
      plan.capabilities.mechanism == Mechanism::kEct &&
      std::any_of(plan.groups.front().queues.begin(), plan.groups.front().queues.end(),
                  [](const QueuePlan& queue) {
                    return std::any_of(
                        queue.levels.begin(), queue.levels.end(),
                        [](const Level& level) { return level.drop_bytes.has_value(); });
                  });
  if (shed_by_ect) {
    findings.note("ecn-per-packet",
                  "the switch distinguishes drop levels by the ECN field: every sender must be "
                  "able to set it per packet",
                  "`dlcp doctor --peer HOST` shows whether marks survive");
  }
  if (plan.overlay == Overlay::kVxlanUniform) {
    findings.warning(
        "overlay-copies-marks",
        "DLCP's DSCPs and ECN marks cross the overlay only if tunnels copy DSCP and ECN into the "
        "outer header, and ECN marks back; dlcp-switch does not configure this",
        "`dlcp doctor --peer HOST` through the overlay shows whether the tunnels do so");
  }
  if (!plan.capabilities.hash_settable) {
    findings.note("hash-fields", "dlcp-switch does not configure ECMP hash fields on this target",
                  "make sure that the UDP source port is among them");
  }
}

// A release newer than all documented ones is planned like the newest of them.
void check_release(Findings& findings, const SwitchPlan& plan) {
  static const std::vector<TargetRow> kTargets = known_targets();
  for (const TargetRow& row : kTargets) {
    if (row.os != plan.os || row.releases.empty()) continue;
    const std::size_t count = row.releases.size();
    const bool branch = row.releases.back() == "master" && count > 1;
    const std::string& last = row.releases[branch ? count - 2 : count - 1];
    const auto newest = last.substr(last.rfind(' ') + 1);  // "5.15", or "5.4 to 5.15"
    if (is_since(plan.os, newest, plan.version)) continue;
    return findings.warning(
        "unread-release",
        fmt::format("{} {} is newer than {}, the newest release whose documentation was read: the "
                    "commands and limits of {} are used",
                    plan.os, plan.version, newest, newest),
        "compare the report's commands and ranges with the documentation of the release, and test "
        "on one switch first");
  }
}

}  // namespace

std::vector<Problem> lint_switch(const Intent& intent, const SwitchIntent& device,
                                 const SwitchPlan& plan) {
  Findings findings(intent.file, device.line, fmt::format("{}: ", device.name));
  if (plan.groups.empty()) {
    findings.error("no-ports", "no ports are listed");
    return findings.take();
  }
  check_release(findings, plan);
  check_lossless(findings, plan);
  check_control_plane(findings, plan);
  check_merges(findings, plan);
  check_given_queues(findings, plan);
  check_system_classes(findings, plan);
  check_dscps(findings, plan);
  check_depths(findings, plan, device);
  check_scheduling(findings, plan, queues_in_use(*plan.site, plan.dlcp_dscps));
  lint_ports(findings, plan);
  lint_egress(findings, plan);
  lint_lossless(findings, plan, device);
  lint_features(findings, plan, device);
  check_senders(findings, plan);
  return findings.take();
}

}  // namespace dlcp::fabric
