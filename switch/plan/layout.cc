#include "switch/plan/layout.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "switch/plan/parts.h"

namespace dlcp::fabric {
namespace {

constexpr std::uint64_t bit(unsigned position) {
  return std::uint64_t{1} << position;
}

bool is_lossless_class(const SiteConfig& site, std::uint8_t traffic_class) {
  if (traffic_class < 8 && (site.pfc_priorities & bit(traffic_class)) != 0) return true;
  const auto queue = site.class_to_queue[traffic_class];
  return queue && *queue < kQueueCount && site.queues[*queue].lossless;
}

// DLCP takes a DSCP out of the site's default class, or out of another with the site's permission,
// and never out of a lossless one.
void check_collisions(const Intent& intent, const SwitchIntent& device,
                      std::vector<Problem>& problems) {
  const SiteConfig& site = *device.site;
  for (const TrafficClassRow& row : intent.dlcp.classes) {
    const auto traffic_class = site.dscp_to_class[row.dscp];
    if (!traffic_class || (site.dlcp_dscps & bit(row.dscp)) != 0) continue;
    const bool lossless = is_lossless_class(site, *traffic_class);
    const bool permitted = (site.permitted_dscps & bit(row.dscp)) != 0;
    if (!lossless && (permitted || *traffic_class == site.default_class)) continue;
    Problem problem =
        problem_at(intent, device,
                   fmt::format("DSCP {} of DLCP's class '{}' collides with the site's map",
                               row.dscp, row.name));
    problem.seen = fmt::format("traffic class {}{}", *traffic_class, lossless ? ", lossless" : "");
    problem.expected = fmt::format("the site's default class {}, or unmapped", site.default_class);
    problem.hint =
        lossless
            ? fmt::format("move DLCP: `{}.dscp = N` in the file that dlcp.classes names", row.name)
            : fmt::format(
                  "move DLCP (`{}.dscp = N` in the file that dlcp.classes names), or "
                  "give the DSCP up: site.may_take_dscps: [{}]",
                  row.name, row.dscp);
    problems.push_back(std::move(problem));
  }
}

// Queues that DLCP may have, best for strict priority first.
std::vector<std::uint8_t> free_queues(const SwitchIntent& device, const Capabilities& capabilities,
                                      std::uint64_t dlcp_dscps) {
  const std::uint8_t used = queues_in_use(*device.site, dlcp_dscps);
  std::vector<std::uint8_t> free;
  for (int queue = capabilities.queues - 1; queue >= 0; --queue) {
    if ((used & bit(queue)) == 0) free.push_back(static_cast<std::uint8_t>(queue));
  }
  return free;
}

// Takes the queue that the intent names for this part, else the next free one.
bool choose_queue(const Intent& intent, const SwitchIntent& device, const Part& part,
                  std::vector<std::uint8_t>& free, QueuePlan& plan,
                  std::vector<Problem>& problems) {
  const auto& asked = intent.dlcp.queue_of;
  const auto wanted = asked[static_cast<std::size_t>(part.carries.front())];
  if (!wanted || part.secondary) {
    const auto spare = std::find_if(free.begin(), free.end(), [&asked](std::uint8_t queue) {
      return std::find(asked.begin(), asked.end(), queue) == asked.end();
    });
    if (spare == free.end()) return false;
    plan.queue = *spare;
    free.erase(spare);
    return true;
  }
  const auto found = std::find(free.begin(), free.end(), *wanted);
  if (found == free.end()) {
    Problem problem = problem_at(
        intent, device, fmt::format("dlcp.queues.{} is not free", name_of(part.carries.front())));
    problem.seen = fmt::format("queue {}", *wanted);
    problem.expected = "a queue that no DSCP of the site leads to and PFC does not protect";
    problem.hint = "leave dlcp.queues out: free queues are found per switch";
    problems.push_back(std::move(problem));
    return false;
  }
  plan.queue = *found;
  free.erase(found);
  return true;
}

// A traffic class that only DLCP uses: the queue's own number where it is free, else the lowest.
std::optional<std::uint8_t> choose_class(const SiteConfig& site, const Capabilities& capabilities,
                                         std::uint64_t dlcp_dscps, std::uint8_t queue,
                                         std::uint16_t taken) {
  std::uint16_t used =
      static_cast<std::uint16_t>(taken | site.pfc_priorities | bit(site.default_class));
  for (unsigned dscp = 0; dscp < kDscpCount; ++dscp) {
    const bool stays = (dlcp_dscps & bit(dscp)) == 0 && (site.dlcp_dscps & bit(dscp)) == 0;
    if (stays && site.dscp_to_class[dscp])
      used |= static_cast<std::uint16_t>(bit(*site.dscp_to_class[dscp]));
  }
  const auto suits = [&](unsigned traffic_class) { return (used & bit(traffic_class)) == 0; };
  if (suits(queue)) return queue;
  for (int traffic_class = 0; traffic_class < capabilities.traffic_classes; ++traffic_class) {
    if (suits(static_cast<unsigned>(traffic_class)))
      return static_cast<std::uint8_t>(traffic_class);
  }
  return std::nullopt;
}

std::array<DscpRow, kDscpCount> site_rows(const SiteConfig& site) {
  std::array<DscpRow, kDscpCount> rows;
  for (unsigned dscp = 0; dscp < kDscpCount; ++dscp) {
    const auto traffic_class = site.dscp_to_class[dscp];
    if (!traffic_class) continue;
    rows[dscp].mapped = true;
    rows[dscp].traffic_class = *traffic_class;
    rows[dscp].queue = site.class_to_queue[*traffic_class].value_or(*traffic_class % kQueueCount);
  }
  return rows;
}

}  // namespace

std::uint64_t dscps_of(const std::array<TrafficClassRow, kTrafficClassCount>& classes) {
  std::uint64_t dscps = 0;
  for (const TrafficClassRow& row : classes)
    dscps |= bit(row.dscp);
  return dscps;
}

std::uint8_t queues_in_use(const SiteConfig& site, std::uint64_t dlcp_dscps) {
  unsigned used = site.pfc_priorities;
  const auto lead = [&](std::uint8_t traffic_class) {
    used |= 1U << site.class_to_queue[traffic_class].value_or(traffic_class % kQueueCount) %
                      kQueueCount;
  };
  lead(site.default_class);
  for (unsigned dscp = 0; dscp < kDscpCount; ++dscp) {
    const bool stays = ((dlcp_dscps | site.dlcp_dscps) & bit(dscp)) == 0;
    if (stays && site.dscp_to_class[dscp]) lead(*site.dscp_to_class[dscp]);
  }
  for (unsigned queue = 0; queue < kQueueCount; ++queue) {
    const SiteQueue& row = site.queues[queue];
    const bool earlier = (site.dlcp_queues & bit(queue)) != 0;
    if ((row.in_use || row.lossless) && !earlier) used |= 1U << queue;
  }
  return static_cast<std::uint8_t>(used);
}

Checked<Layout> lay_out(const Intent& intent, const SwitchIntent& device,
                        const Capabilities& capabilities) {
  Checked<Layout> result;
  check_collisions(intent, device, result.problems);
  const std::uint64_t dlcp_dscps = dscps_of(intent.dlcp.classes);
  auto free = free_queues(device, capabilities, dlcp_dscps);
  if (free.empty()) {
    Problem problem = problem_at(intent, device, "no queue is free");
    problem.expected = "at least one that no DSCP of the site leads to and PFC does not protect";
    problem.hint = "join two of the site's classes, or leave this switch out";
    result.problems.push_back(std::move(problem));
  }
  if (has_errors(result.problems)) return result;

  Layout layout;
  layout.dscp = site_rows(*device.site);
  std::uint16_t taken = 0;
  for (const Part& part : choose_parts(capabilities, free.size(), device, layout.merges)) {
    QueuePlan plan = queue_of(part, intent, capabilities, layout.merges);
    if (plan.levels.empty()) continue;  // overrides have put its classes into other queues
    if (!choose_queue(intent, device, part, free, plan, result.problems)) continue;
    const auto traffic_class =
        choose_class(*device.site, capabilities, dlcp_dscps, plan.queue, taken);
    if (!traffic_class) {
      Problem problem = problem_at(intent, device, "no traffic class is free");
      problem.hint = "the site's DSCP map uses all of them";
      result.problems.push_back(std::move(problem));
      break;
    }
    plan.traffic_class = *traffic_class;
    taken |= static_cast<std::uint16_t>(bit(plan.traffic_class));
    for (const Level& level : plan.levels) {
      for (const std::uint8_t dscp : level.dscps) {
        layout.dscp[dscp] = {Owner::kDlcp, true, plan.traffic_class, plan.queue, 0};
      }
    }
    layout.queues.push_back(std::move(plan));
  }
  std::sort(layout.queues.begin(), layout.queues.end(),
            [](const QueuePlan& a, const QueuePlan& b) { return a.queue < b.queue; });
  number_levels(layout.queues, layout.dscp);
  if (!has_errors(result.problems)) result.value = std::move(layout);
  return result;
}

}  // namespace dlcp::fabric
