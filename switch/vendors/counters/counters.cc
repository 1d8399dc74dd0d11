#include "switch/vendors/counters/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

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

struct Reason {
  std::string what, cause;
};

// The reason why the counters do not show whether the queue works as planned, if there is one.
std::optional<Reason> not_shown(const QueuePlan& queue, const QueueCounters& seen) {
  if (!seen.early_drops && !seen.marks && !seen.drops)
    return Reason{"no counters in the capture", "the platform may not have them"};
  const bool sheds = drops_early(queue);
  if (sheds && !seen.early_drops && seen.drops.value_or(0) > 0)
    return Reason{fmt::format("{} packets dropped", *seen.drops),
                  "this system does not count early drops, which are planned, apart from drops of "
                  "a full queue (SONiC does from 202505 on, with WRED counters)"};
  if (sheds && carries_exact(queue) && seen.early_drops.value_or(0) > 0)
    return Reason{fmt::format("{} packets dropped early", *seen.early_drops),
                  "exact or control packets share this queue with droppable ones: the hosts' "
                  "counter packets_retransmitted shows whether some of them were dropped"};
  const bool quiet = seen.early_drops.value_or(0) == 0 && seen.marks.value_or(0) == 0 &&
                     seen.drops.value_or(0) == 0;
  if (quiet && seen.packets == 0)
    return Reason{"no packets since the counters were cleared",
                  "if a job ran since then: is DLCP's DSCP mapped to this queue on this port?"};
  if (quiet && queue.mark_bytes) return Reason{"no congestion since the counters were cleared", ""};
  return std::nullopt;
}

std::optional<Reason> fault_of(const QueuePlan& queue, const QueueCounters& seen) {
  const bool sheds = drops_early(queue), marks = queue.mark_bytes.has_value();
  const auto early = seen.early_drops.value_or(0), marked = seen.marks.value_or(0);
  const auto all = seen.drops.value_or(0);
  const auto tail = all > early ? all - early : 0;
  if (early > 0 && !sheds)
    return Reason{fmt::format("{} packets dropped early, where none should be", early),
                  "senders do not set ECT, or WRED drop is on"};
  if (marked > 0 && !marks)
    return Reason{fmt::format("{} packets marked, but this queue should not mark", marked), ""};
  if (tail > 0)
    return Reason{fmt::format("{} packets dropped by a full queue", tail),
                  queue.strict ? "the strict queue's rate limit is too low for the packets that "
                                 "arrive, or other senders use its DSCP"
                               : "senders do not react to marks, or the queue's limit is below "
                                 "the planned one"};
  if (sheds && marks && seen.early_drops && early == 0 && marked > 0)
    return Reason{fmt::format("{} packets marked and none dropped", marked),
                  "early drop is off (on SONiC: wred_green_enable), or droppable packets arrive "
                  "with ECT"};
  if (sheds && marks && seen.marks && early > 0 && marked == 0)
    return Reason{fmt::format("{} packets dropped and none marked", early),
                  "ECN is off, or protected packets arrive without ECT"};
  return std::nullopt;
}

Finding judge_queue(const std::string& port, const QueuePlan& queue, const QueueCounters& seen) {
  Verdict verdict = Verdict::kNotShown;
  auto reason = not_shown(queue, seen);
  if (!reason) {
    reason = fault_of(queue, seen);
    verdict = reason ? Verdict::kWrong : Verdict::kAsPlanned;
  }
  if (!reason)
    reason = Reason{fmt::format("{} packets dropped early, {} marked", seen.early_drops.value_or(0),
                                seen.marks.value_or(0)),
                    ""};
  return {verdict, port, queue.queue, queue.name + ": " + reason->what, reason->cause};
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
                            fmt::format("the site's lossless queue: {} packets dropped", lost), "",
                            true});
      }
    }
  if (findings.empty())
    findings.push_back({Verdict::kNotShown, "", -1, "the capture contains no port of the plan"});
  return findings;
}

}  // namespace dlcp::fabric
