#include "switch/plan/queues/shares.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "switch/plan/queues/site_use.h"

namespace dlcp::fabric {
namespace {

struct SiteWeights {
  double total = 0;  // of its weighted queues in use
  int unknown = 0;   // weighted queues in use whose weight is not known
  bool any = false;
};

SiteWeights site_weights(const SiteConfig& site, std::uint8_t used) {
  SiteWeights result;
  for (unsigned queue = 0; queue < kQueueCount; ++queue) {
    const SiteQueue& row = site.queues[queue];
    if ((used >> queue & 1) == 0 || row.strict) continue;
    result.any = true;
    if (row.weight)
      result.total += *row.weight;
    else
      ++result.unknown;
  }
  return result;
}

// The share that a queue requests. If levels are separate queues, the droppable half of a class
// must not starve the protected half: it requests a third.
double wanted_percent(const DlcpIntent& dlcp, const QueuePlan& queue) {
  unsigned held = 0;  // bit: a class of this kind is in the queue
  for (const Level& level : queue.levels)
    for (const TrafficClass member : level.classes)
      held |= 1U << static_cast<unsigned>(member);
  const auto part = [held](TrafficClass member, double share) {
    return (held >> static_cast<unsigned>(member) & 1) != 0 ? share : 0.0;
  };
  const double bulk_droppable = std::max(part(TrafficClass::kBulkMiddle, 1.0 / 3),
                                         part(TrafficClass::kBulkDroppable, 1.0 / 3));
  return part(TrafficClass::kExact, dlcp.exact_percent) +
         dlcp.urgent_percent * (part(TrafficClass::kUrgentProtected, 2.0 / 3) +
                                part(TrafficClass::kUrgentDroppable, 1.0 / 3)) +
         dlcp.bulk_percent * (part(TrafficClass::kBulkProtected, 2.0 / 3) + bulk_droppable);
}

// The rest of 100 percent, or the site's total increased by DLCP's request.
double weight_for_share(const Capabilities& capabilities, const SiteWeights& site, double wanted) {
  if (capabilities.weights_are_percent) return std::min(wanted, 100 - site.total);
  const double share = std::min(wanted, 90.0) / 100;
  return site.total > 0 ? site.total * share / (1 - share) : wanted;
}

void check_minimum_shares(const Intent& intent, const SwitchIntent& device, std::uint8_t used,
                          double total, std::vector<Problem>& problems) {
  for (const SiteQueue& row : device.site->queues) {
    if ((used >> row.queue & 1) == 0 || !row.min_share || !row.weight || row.strict) continue;
    const double share = 100.0 * *row.weight / total;
    if (share + 0.5 >= *row.min_share) continue;
    Problem problem = problem_at(
        intent, device, fmt::format("queue {} of the site would get too small a share", row.queue));
    problem.seen = fmt::format("{:.1f}% of the link next to DLCP", share);
    problem.expected = fmt::format("at least {:g}% (site.queues min_share)", *row.min_share);
    problem.hint = "lower dlcp.shares or min_share";
    problems.push_back(std::move(problem));
  }
}

}  // namespace

std::vector<Problem> assign_shares(const Intent& intent, const SwitchIntent& device,
                                   const Capabilities& capabilities, Layout& layout,
                                   std::vector<std::string>& reasoning) {
  std::vector<Problem> problems;
  const std::uint8_t used = queues_in_use(*device.site, dscps_of(intent));
  SiteWeights site = site_weights(*device.site, used);
  std::vector<QueuePlan*> weighted;
  double wanted = 0;
  for (QueuePlan& queue : layout.queues) {
    if (queue.strict) continue;
    weighted.push_back(&queue);
    wanted += wanted_percent(tenant_of(intent, queue.tenant), queue);
  }
  if (site.unknown > 0 || !site.any) {
    reasoning.push_back(
        fmt::format("weights: some of the site's weights are unknown; the plan assumes that the "
                    "site's queues share the {:.0f}% that DLCP leaves",
                    100 - wanted));
    site.total = std::max(site.total, 100 - wanted);
  }
  const double give = weight_for_share(capabilities, site, wanted);
  if (give < static_cast<double>(weighted.size())) {
    Problem problem = problem_at(intent, device,
                                 "the site's queues leave no percentage of the bandwidth for DLCP");
    problem.seen = fmt::format("{:.0f}% in its queues that are in use", site.total);
    problem.expected = fmt::format("at most {}% for DLCP's {} weighted queues to get 1% each",
                                   100 - weighted.size(), weighted.size());
    problem.hint = "lower the site's percentages first, because dlcp-switch does not change them";
    problems.push_back(std::move(problem));
    return problems;
  }
  double total = site.total;
  for (QueuePlan* queue : weighted) {
    const double exact = give * wanted_percent(tenant_of(intent, queue->tenant), *queue) / wanted;
    // Percentages are rounded down, so that their sum does not exceed 100.
    const double rounded = capabilities.weights_are_percent ? std::floor(exact) : std::round(exact);
    queue->weight = static_cast<unsigned>(
        std::clamp(rounded, double(capabilities.weight_min), double(capabilities.weight_max)));
    total += queue->weight;
  }
  if (total <= 0) return problems;
  double got = 0;
  for (QueuePlan* queue : weighted) {
    queue->share_percent = 100.0 * queue->weight / total;
    got += queue->share_percent;
    reasoning.push_back(
        fmt::format("weights: queue {} ({}) has weight {} next to the site's total of {:.0f}: "
                    "{:.1f}% of a busy link",
                    queue->queue, queue->name, queue->weight, site.total, queue->share_percent));
  }
  if (got < wanted * 0.8) {
    layout.merges.push_back(
        {fmt::format("DLCP's queues get {:.0f}% of a busy link, not the {:.0f}% of dlcp.shares",
                     got, wanted),
         capabilities.weights_are_percent
             ? fmt::format("the site's queues hold {:.0f}% of 100", site.total)
             : fmt::format("the largest weight is {}", capabilities.weight_max)});
  }
  check_minimum_shares(intent, device, used, total, problems);
  return problems;
}

}  // namespace dlcp::fabric
