#include "switch/vendors/tc/tree.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace dlcp::fabric::tc {
namespace {

std::string names_of(const SwitchPlan& plan, const Level& level) {
  std::string text;
  for (const TrafficClass one : level.classes) {
    text += (text.empty() ? "" : "+");
    text += plan.classes[static_cast<std::size_t>(one)].name;
  }
  return text;
}

BandLevel level_of(const SwitchPlan& plan, const QueuePlan& queue, const Level& level) {
  BandLevel result;
  result.name = names_of(plan, level);
  result.mark_bytes = level.ect ? queue.mark_bytes.value_or(0) : 0;
  result.limit_bytes = level.drop_bytes.value_or(queue.limit_bytes);
  result.protect = &level == &queue.levels.back();
  return result;
}

Band band_of(const SwitchPlan& plan, const QueuePlan& queue) {
  Band band;
  band.queue = queue.queue;
  band.name = queue.name;
  band.strict = queue.strict;
  band.weight = queue.weight;
  band.limit_bytes = queue.limit_bytes;
  if (queue.strict) {
    band.kind = BandKind::kShaped;
    band.bits_per_second = queue.shape_bits_per_second;
    return band;
  }
  if (queue.levels.size() > 1) {
    band.kind = BandKind::kLevels;
    for (const Level& level : queue.levels)
      band.levels.push_back(level_of(plan, queue, level));
    return band;
  }
  const Level& only = queue.levels.front();
  band.limit_bytes = only.drop_bytes.value_or(queue.limit_bytes);
  band.mark_bytes = only.ect ? queue.mark_bytes.value_or(0) : 0;
  band.kind = band.mark_bytes > 0 ? BandKind::kMarked : BandKind::kTail;
  return band;
}

// The site's weighted queues of unknown weight share the rest of the plan's weights.
unsigned weight_of_others(const PortGroupPlan& group, const std::vector<Band>& bands) {
  double known = 0;
  unsigned unknown = 0;
  for (const Band& band : bands) {
    if (band.strict) continue;
    known += band.weight;
    unknown += band.weight == 0;
  }
  for (const QueuePlan& queue : group.queues) {
    if (queue.strict || queue.share_percent <= 0 || unknown == 0) continue;
    const double total = 100.0 * queue.weight / queue.share_percent;
    return static_cast<unsigned>(std::max(1.0, std::round((total - known) / unknown)));
  }
  return 1;
}

bool leads_to(const SwitchPlan& plan, int queue) {
  return std::any_of(
      plan.dscp.begin(), plan.dscp.end(),
      [queue](const DscpRow& row) {
        return row.owner == Owner::kSite && row.mapped && row.queue == queue;
      });
}

int default_queue(const SiteConfig& site) {
  return site.class_to_queue[site.default_class].value_or(site.default_class);
}

}  // namespace

Tree tree_of(const SwitchPlan& plan, const PortGroupPlan& group) {
  Tree tree;
  for (int index = 0; index < kQueueCount; ++index) {
    const SiteQueue& site = plan.site->queues[static_cast<std::size_t>(index)];
    const bool dlcp = std::any_of(group.queues.begin(), group.queues.end(),
                                  [index](const auto& queue) { return queue.queue == index; });
    const bool used = site.in_use || leads_to(plan, index) || index == default_queue(*plan.site);
    if (dlcp || !used) continue;
    Band band;
    band.queue = index;
    band.name = site.name.empty() ? "site" : site.name;
    band.strict = site.strict;
    band.weight = site.weight.value_or(0);
    band.bits_per_second = site.shaped_bits_per_second.value_or(0);
    tree.bands.push_back(std::move(band));
  }
  for (const QueuePlan& queue : group.queues)
    tree.bands.push_back(band_of(plan, queue));
  const unsigned other_weight = weight_of_others(group, tree.bands);
  for (Band& band : tree.bands)
    if (!band.strict && band.weight == 0) band.weight = other_weight;
  std::sort(tree.bands.begin(), tree.bands.end(), [](const Band& a, const Band& b) {
    return a.strict != b.strict ? a.strict : a.queue > b.queue;
  });
  for (std::size_t i = 0; i < tree.bands.size(); ++i)
    if (tree.bands[i].queue == default_queue(*plan.site)) tree.default_band = i;
  return tree;
}

std::vector<Match> matches_of(const SwitchPlan& plan, const PortGroupPlan& group,
                              const Tree& tree) {
  std::vector<Match> matches;
  for (int dscp = 0; dscp < kDscpCount; ++dscp) {
    const DscpRow& row = plan.dscp[static_cast<std::size_t>(dscp)];
    if (!row.mapped) continue;
    const auto band = std::find_if(tree.bands.begin(), tree.bands.end(),
                                   [&row](const Band& one) { return one.queue == row.queue; });
    if (band == tree.bands.end()) continue;
    if (row.owner == Owner::kSite && band->queue == default_queue(*plan.site)) continue;
    Match match{.dscp = dscp,
                .band = static_cast<std::size_t>(band - tree.bands.begin()),
                .level = 0,
                .name = band->name};
    for (const QueuePlan& queue : group.queues) {
      if (row.owner != Owner::kDlcp || queue.queue != row.queue) continue;
      for (std::size_t level = 0; level < queue.levels.size(); ++level) {
        const auto& dscps = queue.levels[level].dscps;
        if (std::find(dscps.begin(), dscps.end(), dscp) == dscps.end()) continue;
        match.level = level;
        match.name = names_of(plan, queue.levels[level]);
      }
    }
    matches.push_back(std::move(match));
  }
  return matches;
}

}  // namespace dlcp::fabric::tc
