// Rejects plans that a system's order of queues contradicts: strict queues must be the highest ones
// on some systems. Where all queues below a round-robin queue are round-robin too, DLCP's queues
// could also change the scheduling of the site's queues.
#include <fmt/format.h>

#include <algorithm>

#include "switch/plan/queues/layout.h"
#include "switch/plan/queues/site_use.h"
#include "switch/vendors/tree/render/wanted.h"

namespace dlcp::fabric::tree {
namespace {

// The highest round-robin queue of DLCP, and its strict queue.
struct Edges {
  int round_robin = -1, strict = kQueueCount;
};

Edges edges_of(const PortGroupPlan& group) {
  Edges edges;
  for (const QueuePlan& queue : group.queues)
    if (queue.strict)
      edges.strict = queue.queue;
    else
      edges.round_robin = std::max<int>(edges.round_robin, queue.queue);
  return edges;
}

std::optional<Problem> fault_of(const Target& target, const SwitchPlan& plan, const Edges& edges,
                                const SiteQueue& site) {
  if (target.round_robin_binds_below && plan.site->imported && site.strict &&
      site.queue < edges.round_robin)
    return refusal(
        plan,
        fmt::format("DLCP's round-robin queue {} would make the site's strict queue {} "
                    "round-robin, too",
                    edges.round_robin, site.queue),
        fmt::format("queue {} above queue {}", edges.round_robin, site.queue),
        "DLCP's weighted queues below the site's strict ones",
        "assign lower queues (dlcp.queues), or give the site's queue a `bandwidth percent` and "
        "`no priority` first");
  if (!site.strict && site.weight && site.queue > edges.strict)
    return refusal(plan,
                   fmt::format("the site's weighted queue {} is above DLCP's strict queue {}, but "
                               "strict queues must be the highest ones",
                               site.queue, edges.strict),
                   fmt::format("queue {} below queue {}", edges.strict, site.queue),
                   "the control queue above every weighted one",
                   "assign a higher queue: dlcp.queues.control");
  return std::nullopt;
}

}  // namespace

std::string default_class_note(const Target& target, const SwitchPlan& plan) {
  if (!target.round_robin_binds_below || !plan.site->imported) return "";
  const auto preset =
      static_cast<std::size_t>(queue_of_class(*plan.site, plan.site->default_class));
  const SiteQueue& queue = plan.site->queues[preset];
  for (const PortGroupPlan& group : plan.groups)
    if (const Edges edges = edges_of(group); queue.strict && queue.queue < edges.round_robin)
      return fmt::format(
          "queue {} of the site's default class is strict today, with the lowest priority, and "
          "becomes round-robin below DLCP's queue {}: its `bandwidth percent` then determines its "
          "share",
          queue.queue, edges.round_robin);
  return "";
}

std::vector<Problem> scheduling_faults(const Target& target, const SwitchPlan& plan) {
  std::vector<Problem> problems;
  if (!target.strict_is_highest) return problems;
  const auto used = queues_in_use(*plan.site, plan.dlcp_dscps);
  const int preset = queue_of_class(*plan.site, plan.site->default_class);
  for (const PortGroupPlan& group : plan.groups) {
    const Edges edges = edges_of(group);
    for (const SiteQueue& site : plan.site->queues) {
      if ((used >> site.queue & 1) == 0 || site.queue == preset) continue;
      if (auto problem = fault_of(target, plan, edges, site)) {
        problems.push_back(std::move(*problem));
        break;
      }
    }
  }
  return problems;
}

}  // namespace dlcp::fabric::tree
