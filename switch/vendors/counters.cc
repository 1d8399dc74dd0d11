#include "switch/vendors/counters.h"

#include <fmt/format.h>

#include <algorithm>

namespace dlcp::fabric {
namespace {

bool carries_exact(const QueuePlan& queue) {
  return std::any_of(
      queue.carries.begin(), queue.carries.end(),
      [](SwitchQueue part) {
        return part == SwitchQueue::kExact || part == SwitchQueue::kStrictHigh;
      });
}

bool drops_early(const QueuePlan& queue) {
  return std::any_of(
      queue.levels.begin(), queue.levels.end(),
      [](const Level& level) { return level.drop_bytes.has_value(); });
}

// Why the counters cannot be judged; empty: they can.
std::string not_shown(const QueuePlan& queue, const QueueCounters& seen) {
  if (!seen.early_drops && !seen.marks && !seen.drops)
    return "no counters in the capture (or this platform does not count)";
  const bool sheds = drops_early(queue);
  if (sheds && !seen.early_drops && seen.drops.value_or(0) > 0)
    return fmt::format(
        "{} packets dropped; where early drops are not counted apart (on SONiC: without WRED "
        "counters, before 202505) it is not known whether early, as planned, or by a full queue",
        *seen.drops);
  if (sheds && carries_exact(queue) && seen.early_drops.value_or(0) > 0)
    return fmt::format(
        "{} dropped early: cannot be judged, exact or control packets share the queue with "
        "droppable ones; packets_retransmitted of the hosts says whether they were among them",
        *seen.early_drops);
  const bool quiet = seen.early_drops.value_or(0) == 0 && seen.marks.value_or(0) == 0 &&
                     seen.drops.value_or(0) == 0;
  if (quiet && queue.mark_bytes) return "no congestion since the counters were cleared";
  return {};
}

// The fault; empty: none.
std::string fault_of(const QueuePlan& queue, const QueueCounters& seen) {
  const bool sheds = drops_early(queue), marks = queue.mark_bytes.has_value();
  const auto early = seen.early_drops.value_or(0), marked = seen.marks.value_or(0);
  const auto all = seen.drops.value_or(0);
  const auto tail = all > early ? all - early : 0;
  if (early > 0 && !sheds)
    return fmt::format(
        "{} packets dropped early, none should be; senders mark not-ECT, or WRED drop is on",
        early);
  if (marked > 0 && !marks)
    return fmt::format("{} packets marked, this queue should not mark", marked);
  if (tail > 0)
    return fmt::format("{} packets dropped by a full queue; {}", tail,
                       queue.strict ? "the strict queue's rate limit is too low for what arrives, "
                                      "or somebody else marks its DSCP"
                                    : "senders do not react to marks, or the queue's limit is "
                                      "below the planned one");
  if (sheds && marks && seen.early_drops && early == 0 && marked > 0)
    return fmt::format(
        "{} packets marked and none dropped; early drop is off (on SONiC: wred_green_enable), or "
        "droppable packets arrive ECT",
        marked);
  if (sheds && marks && seen.marks && early > 0 && marked == 0)
    return fmt::format(
        "{} packets dropped and none marked; ecn is off, or protected packets arrive not-ECT",
        early);
  return {};
}

Finding judge_queue(const std::string& port, const QueuePlan& queue, const QueueCounters& seen) {
  Finding finding{Verdict::kNotShown, port, queue.queue, not_shown(queue, seen)};
  if (finding.what.empty()) {
    finding.what = fault_of(queue, seen);
    finding.verdict = finding.what.empty() ? Verdict::kAsPlanned : Verdict::kWrong;
  }
  if (finding.what.empty())
    finding.what = fmt::format("{} dropped early, {} marked", seen.early_drops.value_or(0),
                               seen.marks.value_or(0));
  finding.what = queue.name + ": " + finding.what;
  return finding;
}

}  // namespace

std::vector<Finding> judge_counters(const SwitchPlan& plan, const CounterTable& table) {
  std::vector<Finding> findings;
  for (const auto& group : plan.groups)
    for (const auto& port : group.group.ports) {
      const auto first = table.lower_bound({port, -1});
      if (first == table.end() || first->first.first != port) continue;  // not captured
      for (const auto& queue : group.queues) {
        const auto row = table.find({port, queue.queue});
        findings.push_back(
            judge_queue(port, queue, row == table.end() ? QueueCounters() : row->second));
      }
      for (const auto& site : plan.site->queues) {
        const auto row = table.find({port, site.queue});
        if (!site.lossless || row == table.end()) continue;
        const auto lost =
            std::max(row->second.drops.value_or(0), row->second.early_drops.value_or(0));
        findings.push_back({lost > 0 ? Verdict::kWrong : Verdict::kAsPlanned, port, site.queue,
                            fmt::format("the site's lossless queue: {} dropped", lost)});
      }
    }
  if (findings.empty())
    findings.push_back({Verdict::kNotShown, "", -1, "no port of the plan is in the capture"});
  return findings;
}

}  // namespace dlcp::fabric
