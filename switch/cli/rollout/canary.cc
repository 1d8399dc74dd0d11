#include "switch/cli/rollout/canary.h"

#include <fmt/core.h>

#include <set>

namespace dlcp::fabric::cli {

std::vector<CanaryStep> canary_steps(const Intent& intent) {
  std::vector<CanaryStep> steps = {{"canaries at the edge, one leaf of each kind", {}},
                                   {"canaries in the core, one of each kind", {}},
                                   {"the other leaves, in batches", {}},
                                   {"the other core switches, one at a time", {}}};
  std::set<std::string> kinds;
  for (const SwitchIntent& device : intent.switches) {
    const bool edge = device.role == SwitchRole::kLeaf || device.role == SwitchRole::kOther;
    const std::string kind =
        fmt::format("{} {} {} {}", name_of(device.role), device.os, device.version, device.asic);
    const bool canary = kinds.insert(kind).second;
    steps[(edge ? 0 : 1) + (canary ? 0 : 2)].switches.push_back(device.name);
  }
  std::erase_if(steps, [](const CanaryStep& step) { return step.switches.empty(); });
  return steps;
}

std::string abort_thresholds(const SwitchPlan& plan) {
  std::string text =
      "- a drop, a PFC storm or a watchdog event in a lossless class that had none in the hour "
      "before;\n"
      "- for 5 minutes, drops in a queue of the site at more than twice the rate of the hour "
      "before;\n"
      "- a routing session or link that goes down;\n";
  for (const QueuePlan& queue : plan.groups.front().queues) {
    if (!queue.strict) continue;
    text += fmt::format(
        "- any drop in queue {} (control): its rate limit is too low, or other senders use its "
        "DSCP;\n",
        queue.queue);
  }
  text +=
      "- a training job on hosts behind this switch whose step time grows by more than 5% while "
      "its counter packets_retransmitted grows faster than before.\n";
  return text;
}

}  // namespace dlcp::fabric::cli
