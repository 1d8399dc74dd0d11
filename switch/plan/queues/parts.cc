#include "switch/plan/queues/parts.h"

#include <fmt/core.h>

#include <algorithm>

#include "switch/plan/queues/layout.h"

namespace dlcp::fabric {
namespace {

using Q = SwitchQueue;

struct QueueSharing {
  std::vector<Part> parts;
  const char* lost;  // compared with the richest division; empty: nothing
};

const std::vector<QueueSharing>& shared_queues() {
  static const std::vector<QueueSharing> kRichestFirst = {
      {{{{Q::kStrictHigh}, Kind::kAll, true, false},
        {{Q::kExact}, Kind::kAll, false, false},
        {{Q::kUrgent}, Kind::kAll, false, false},
        {{Q::kBulk}, Kind::kAll, false, false}},
       ""},
      {{{{Q::kStrictHigh}, Kind::kAll, true, false},
        {{Q::kExact}, Kind::kAll, false, false},
        {{Q::kUrgent, Q::kBulk}, Kind::kAll, false, false}},
       "urgent and bulk share a queue: urgent layers do not overtake bulk ones"},
      {{{{Q::kStrictHigh}, Kind::kAll, true, false},
        {{Q::kExact, Q::kUrgent, Q::kBulk}, Kind::kAll, false, false}},
       "exact, urgent and bulk share a queue: exact traffic waits behind gradients"},
      {{{{Q::kStrictHigh, Q::kExact, Q::kUrgent, Q::kBulk}, Kind::kAll, false, false}},
       "all classes share one weighted queue: acknowledgements wait behind data"},
  };
  return kRichestFirst;
}

const std::vector<QueueSharing>& queue_per_level() {
  static const std::vector<QueueSharing> kRichestFirst = {
      {{{{Q::kStrictHigh}, Kind::kAll, true, false},
        {{Q::kExact}, Kind::kAll, false, false},
        {{Q::kUrgent}, Kind::kProtected, false, false},
        {{Q::kBulk}, Kind::kProtected, false, false},
        {{Q::kUrgent, Q::kBulk}, Kind::kDroppable, false, true}},
       "droppable packets of urgent and bulk share one queue"},
      {{{{Q::kStrictHigh}, Kind::kAll, true, false},
        {{Q::kExact}, Kind::kAll, false, false},
        {{Q::kUrgent, Q::kBulk}, Kind::kProtected, false, false},
        {{Q::kUrgent, Q::kBulk}, Kind::kDroppable, false, true}},
       "urgent and bulk share their queues: urgent layers do not overtake bulk ones"},
      {{{{Q::kStrictHigh}, Kind::kAll, true, false},
        {{Q::kExact, Q::kUrgent, Q::kBulk}, Kind::kProtected, false, false},
        {{Q::kUrgent, Q::kBulk}, Kind::kDroppable, false, true}},
       "all protected classes share a queue: exact traffic waits behind gradients"},
      {{{{Q::kStrictHigh, Q::kExact, Q::kUrgent, Q::kBulk}, Kind::kProtected, false, false},
        {{Q::kUrgent, Q::kBulk}, Kind::kDroppable, false, true}},
       "all protected classes, acknowledgements included, share one weighted queue"},
      {{{{Q::kStrictHigh, Q::kExact, Q::kUrgent, Q::kBulk}, Kind::kAll, false, false}},
       "all classes share one weighted queue, and no packet is dropped early"},
  };
  return kRichestFirst;
}

bool droppable(const TrafficClassRow& row) {
  return row.early == EarlyTreatment::kDrop;
}

bool holds(const Part& part, const TrafficClassRow& row) {
  if (std::find(part.carries.begin(), part.carries.end(), row.queue) == part.carries.end())
    return false;
  return part.kind == Kind::kAll || (part.kind == Kind::kDroppable) == droppable(row);
}

// Offered bytes of a class, in percent of the link, from the intent's shares.
double offered(const DlcpIntent& dlcp, const TrafficClassRow& row) {
  const LevelShares& shares = dlcp.level_shares;
  switch (row.traffic_class) {
    case TrafficClass::kControl:
      return 1;  // acknowledgements of the other classes
    case TrafficClass::kExact:
      return dlcp.exact_percent;
    case TrafficClass::kUrgentProtected:
      return dlcp.urgent_percent * shares.urgent_protected;
    case TrafficClass::kUrgentDroppable:
      return dlcp.urgent_percent * shares.urgent_droppable;
    case TrafficClass::kBulkProtected:
      return dlcp.bulk_percent * shares.bulk_protected;
    case TrafficClass::kBulkMiddle:
      return dlcp.bulk_percent * shares.bulk_middle;
    case TrafficClass::kBulkDroppable:
      break;
  }
  return dlcp.bulk_percent * shares.bulk_droppable;
}

// 0: dropped first, 1: middle, 2: protected.
std::size_t rank_of(const TrafficClassRow& row) {
  if (!droppable(row)) return 2;
  return row.drop_precedence >= 3 ? 0 : 1;
}

std::string names_of(const Level& level) {
  std::string text;
  for (const TrafficClass member : level.classes)
    text += (text.empty() ? "" : ", ") + std::string(dlcp::row_of(member).name);
  return text;
}

void merge_level(Level& into, const Level& from) {
  for (const TrafficClass member : from.classes)  // the control class is common to all tenants
    if (std::find(into.classes.begin(), into.classes.end(), member) == into.classes.end())
      into.classes.push_back(member);
  for (const std::uint8_t dscp : from.dscps)
    if (std::find(into.dscps.begin(), into.dscps.end(), dscp) == into.dscps.end())
      into.dscps.push_back(dscp);
  into.share += from.share;
  into.ect = into.ect && from.ect;
}

bool share_a_dscp(const Level& a, const Level& b) {
  return std::any_of(
      a.dscps.begin(), a.dscps.end(),
      [&b](std::uint8_t dscp) {
        return std::find(b.dscps.begin(), b.dscps.end(), dscp) != b.dscps.end();
      });
}

// Every tenant has the weighted parts; a strict part serves the control packets of all.
std::vector<Part> for_tenants(const std::vector<Part>& parts, std::size_t tenants) {
  std::vector<Part> all;
  for (std::size_t tenant = 0; tenant < tenants; ++tenant)
    for (Part part : parts) {
      if (part.strict && tenant > 0) continue;
      part.tenant = tenant;
      all.push_back(std::move(part));
    }
  return all;
}

std::string name_of(const Part& part) {
  std::string text;
  for (const SwitchQueue queue : part.carries)
    text += (text.empty() ? "" : "+") + std::string(dlcp::fabric::name_of(queue));
  if (part.secondary) text += "-droppable";
  return text;
}

// Joins levels that the target cannot distinguish, or that share a DSCP.
void merge_levels(std::vector<Level>& levels, const std::string& name, const Part& part,
                  const Capabilities& capabilities, std::vector<Merge>& merges) {
  const bool whole = part.kind == Kind::kAll;
  const std::size_t keep =
      whole ? static_cast<std::size_t>(std::max(capabilities.levels_per_queue, 1)) : 1;
  while (levels.size() > 1) {
    const bool too_many = levels.size() > keep;
    const bool by_colour = capabilities.mechanism == Mechanism::kColour;
    const bool one_dscp = by_colour && share_a_dscp(levels[0], levels[1]);
    if (!too_many && !one_dscp) break;
    merges.push_back({fmt::format("queue {}: {} and {} are one drop level", name,
                                  names_of(levels[0]), names_of(levels[1])),
                      too_many
                          ? fmt::format("{} {} on {} distinguishes {} level{} in one queue (by {})",
                                        capabilities.os, capabilities.version, capabilities.asic,
                                        keep, keep == 1 ? "" : "s", name_of(capabilities.mechanism))
                          : "they share a DSCP"});
    merge_level(levels[1], levels[0]);
    levels.erase(levels.begin());
  }
}

}  // namespace

std::vector<Part> choose_parts(const Capabilities& capabilities, std::size_t free_count,
                               std::size_t tenants, const SwitchIntent& device,
                               std::vector<Merge>& merges) {
  const auto& sharings =
      capabilities.mechanism == Mechanism::kQueues ? queue_per_level() : shared_queues();
  const auto fits = std::find_if(sharings.begin(), sharings.end(), [&](const QueueSharing& a) {
    return for_tenants(a.parts, tenants).size() <= free_count;
  });
  const QueueSharing& chosen = fits == sharings.end() ? sharings.back() : *fits;
  if (*chosen.lost != '\0') {
    const std::string why = &chosen == &sharings.front()
                                ? fmt::format("{} on {} keeps one drop level per queue",
                                              capabilities.os, capabilities.asic)
                                : fmt::format("the site leaves {} of {} queues of '{}' free",
                                              free_count, capabilities.queues, device.name);
    merges.push_back({chosen.lost, why});
  }
  return for_tenants(chosen.parts, tenants);
}

QueuePlan queue_of(const Part& part, const Intent& intent, const Capabilities& capabilities,
                   std::vector<Merge>& merges) {
  QueuePlan plan;
  plan.name = name_of(part);
  if (part.tenant > 0) plan.name = intent.tenants[part.tenant - 1].name + "-" + plan.name;
  plan.tenant = part.tenant;
  plan.carries = part.carries;
  plan.strict = part.strict;
  std::array<Level, 3> ranked;
  double total = 0;
  const auto add = [&](const DlcpIntent& dlcp) {
    for (const TrafficClassRow& row : dlcp.classes) {
      if (!holds(part, row)) continue;
      Level one;
      one.classes = {row.traffic_class};
      one.dscps = {row.dscp};
      one.share = offered(dlcp, row);
      one.ect = row.ecn != Ecn::kNotEct;
      total += one.share;
      Level& level = ranked[rank_of(row)];
      if (level.classes.empty())
        level = one;
      else
        merge_level(level, one);
    }
  };
  if (part.strict)
    for (std::size_t tenant = 0; tenant <= intent.tenants.size(); ++tenant)
      add(tenant_of(intent, tenant));
  else
    add(tenant_of(intent, part.tenant));
  // A level that no sender marks needs no depth of its own, and can be joined without loss.
  Level& middle = ranked[1];
  if (!ranked[0].classes.empty() && !middle.classes.empty() && middle.share <= 0) {
    merge_level(ranked[0], middle);
    middle = Level{};
  }
  for (Level& level : ranked) {
    if (level.classes.empty()) continue;
    level.share = total > 0 ? level.share / total : 0;
    plan.levels.push_back(std::move(level));
  }
  merge_levels(plan.levels, plan.name, part, capabilities, merges);
  return plan;
}

bool join_lowest_levels(std::vector<QueuePlan>& queues, std::size_t deepest_queue) {
  std::vector<Level>& levels = queues[deepest_queue].levels;
  if (levels.size() < 2) return false;
  merge_level(levels[1], levels[0]);
  levels.erase(levels.begin());
  return true;
}

void number_levels(std::vector<QueuePlan>& queues, std::array<DscpRow, kDscpCount>& dscp) {
  for (QueuePlan& queue : queues) {
    for (std::size_t i = 0; i < queue.levels.size(); ++i) {
      Level& level = queue.levels[i];
      // The protected level is colour 0; of two or three levels the one dropped first is colour 2.
      const std::size_t from_top = queue.levels.size() - 1 - i;
      level.drop_precedence = static_cast<std::uint8_t>(i == 0 && from_top > 0 ? 2 : from_top);
      for (const std::uint8_t code_point : level.dscps)
        dscp[code_point].drop_precedence = level.drop_precedence;
    }
  }
}

}  // namespace dlcp::fabric
