#include "switch/plan/queues/layout.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "switch/plan/queues/parts.h"
#include "switch/plan/queues/site_use.h"

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

// DLCP takes a DSCP from the site's default class, or from another class with the site's permission
// (for the DSCP or for the queue it leads to), and never from a lossless class.
void check_collisions(const Intent& intent, const SwitchIntent& device,
                      std::vector<Problem>& problems) {
  const SiteConfig& site = *device.site;
  std::vector<Problem> found;
  std::string all;  // DSCPs or queues that the site would have to give up
  std::vector<TrafficClassRow> rows;
  for (std::size_t tenant = 0; tenant <= intent.tenants.size(); ++tenant) {
    const auto& classes = tenant_of(intent, tenant).classes;
    rows.insert(rows.end(), classes.begin(), classes.end());
  }
  for (const TrafficClassRow& row : rows) {
    const auto traffic_class = site.dscp_to_class[row.dscp];
    if (!traffic_class || (site.dlcp_dscps & bit(row.dscp)) != 0) continue;
    const bool lossless = is_lossless_class(site, *traffic_class);
    const bool permitted = (site.permitted_dscps & bit(row.dscp)) != 0 ||
                           (site.permitted_queues & bit(queue_of_class(site, *traffic_class))) != 0;
    if (!lossless && (permitted || *traffic_class == site.default_class)) continue;
    Problem problem =
        problem_at(intent, device,
                   fmt::format("DSCP {} of DLCP's class '{}' collides with the site's map",
                               row.dscp, row.name));
    problem.seen = fmt::format("traffic class {}{}", *traffic_class, lossless ? ", lossless" : "");
    problem.expected = fmt::format("the site's default class {}, or unmapped", site.default_class);
    if (lossless) {
      problem.hint = fmt::format(
          "give DLCP another DSCP: `{}.dscp = N` in the file that dlcp.classes names (`dlcp-switch "
          "init --classes FILE` writes one)",
          row.name);
    } else {
      all += (all.empty() ? "" : ", ") + std::to_string(row.dscp);
    }
    found.push_back(std::move(problem));
  }
  for (Problem& problem : found) {
    if (problem.hint.empty()) {
      problem.hint = fmt::format(
          "let DLCP use the DSCPs (`site: {{may_take_dscps: [{}]}}`), or give DLCP others "
          "(`CLASS.dscp = N` in the file that dlcp.classes names; `dlcp-switch init --classes "
          "FILE` writes one)",
          all);
    }
    problems.push_back(std::move(problem));
  }
}

// A declared site may name classes that this system does not have.
void check_classes(const Intent& intent, const SwitchIntent& device,
                   const Capabilities& capabilities, std::vector<Problem>& problems) {
  const SiteConfig& site = *device.site;
  int highest = site.default_class;
  for (const auto& traffic_class : site.dscp_to_class)
    highest = std::max<int>(highest, traffic_class.value_or(0));
  if (highest < capabilities.site_classes) return;
  Problem problem =
      problem_at(intent, device, fmt::format("{} has no traffic class {}", device.os, highest));
  problem.seen = fmt::format("class {} of the site", highest);
  problem.expected = fmt::format("classes 0 to {}", capabilities.site_classes - 1);
  problem.hint = "use the numbers that this switch has, in a `site` of the switch's own entry";
  problems.push_back(std::move(problem));
}

// The site must not give up its default class's queue, or a queue that PFC protects.
void check_permissions(const Intent& intent, const SwitchIntent& device,
                       std::vector<Problem>& problems) {
  const SiteConfig& site = *device.site;
  for (unsigned queue = 0; queue < kQueueCount; ++queue) {
    if ((site.permitted_queues & bit(queue)) == 0) continue;
    const char* why = nullptr;
    if (queue == queue_of_class(site, site.default_class)) why = "the site's default class";
    if (site.queues[queue].lossless || (site.pfc_priorities & bit(queue)) != 0) why = "PFC";
    if (why == nullptr) continue;
    Problem problem = problem_at(
        intent, device, fmt::format("site.may_take_queues: DLCP cannot use queue {}", queue));
    problem.seen = fmt::format("queue {}, used by {}", queue, why);
    problem.expected = "queues that carry no traffic of the site";
    problems.push_back(std::move(problem));
  }
}

// The queues that the intent names for these parts. A part that has joined another one needs none.
using NamedQueues = decltype(DlcpIntent::queue_of);
NamedQueues named_queues(const Intent& intent, const std::vector<Part>& parts) {
  NamedQueues named;
  for (const Part& part : parts) {
    const auto front = static_cast<std::size_t>(part.carries.front());
    if (!part.secondary && part.tenant == 0) named[front] = intent.dlcp.queue_of[front];
  }
  return named;
}

// Notes queues that the intent names for parts that have joined another one.
void note_unused_names(const Intent& intent, const NamedQueues& asked, Layout& layout) {
  for (std::size_t part = 0; part < asked.size(); ++part) {
    const auto named = intent.dlcp.queue_of[part];
    if (!named || asked[part]) continue;
    const auto sort = static_cast<SwitchQueue>(part);
    std::vector<std::uint8_t> joined;
    for (const QueuePlan& queue : layout.queues)
      if (queue.tenant == 0 &&
          std::find(queue.carries.begin(), queue.carries.end(), sort) != queue.carries.end())
        joined.push_back(queue.queue);
    if (joined.empty() || std::find(joined.begin(), joined.end(), *named) != joined.end()) continue;
    layout.merges.push_back(
        {fmt::format("dlcp.queues gives {} queue {}, which is not used", name_of(sort), *named),
         fmt::format("{} has joined queue {}", name_of(sort), joined.front())});
  }
}

// Uses the queue that the intent names for this part, else the next free one.
bool choose_queue(const Intent& intent, const SwitchIntent& device,
                  const Capabilities& capabilities, const Part& part, const NamedQueues& asked,
                  FreeQueues& available, QueuePlan& plan, std::vector<Problem>& problems) {
  const int control_plane_queue = capabilities.control_plane_queue;
  const auto wanted = part.tenant == 0 ? asked[static_cast<std::size_t>(part.carries.front())]
                                       : std::optional<std::uint8_t>();
  auto& free = available.any;
  const bool with_control_plane =
      part.strict && available.control_plane && (!wanted || *wanted == control_plane_queue);
  if (with_control_plane) {
    plan.queue = static_cast<std::uint8_t>(control_plane_queue);
    available.control_plane = false;
    return true;
  }
  if (!wanted || part.secondary) {
    auto spare = std::find_if(free.begin(), free.end(), [&asked](std::uint8_t queue) {
      return std::find(asked.begin(), asked.end(), queue) == asked.end();
    });
    if (spare == free.end()) {
      Problem problem =
          problem_at(intent, device, fmt::format("no queue is left for {}", plan.name));
      problem.expected = "a free queue that dlcp.queues assigns to no other class";
      problem.hint = "leave dlcp.queues out: the plan then finds free queues for each switch";
      problems.push_back(std::move(problem));
      return false;
    }
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
    problem.hint = "leave dlcp.queues out: the plan then finds free queues for each switch";
    if (may_be_lossless(*device.site, capabilities, *wanted))
      problem.expected =
          "another queue, because the system's default configuration makes this one lossless";
    if (*wanted == control_plane_queue)
      problem.expected =
          "another queue, because this one carries the switch's own BGP and LACP packets";
    problems.push_back(std::move(problem));
    return false;
  }
  plan.queue = *found;
  free.erase(found);
  return true;
}

// A traffic class that only DLCP uses: the one with the queue's number if free, else the lowest
// free one.
std::optional<std::uint8_t> choose_class(const SiteConfig& site, const Capabilities& capabilities,
                                         std::uint64_t dlcp_dscps, std::uint8_t queue,
                                         std::uint16_t taken) {
  const auto used = static_cast<std::uint16_t>(taken | classes_in_use(site, dlcp_dscps));
  const auto suits = [&](unsigned traffic_class) { return (used & bit(traffic_class)) == 0; };
  if (suits(queue)) return queue;
  for (int traffic_class = 0; traffic_class < capabilities.traffic_classes; ++traffic_class)
    if (suits(static_cast<unsigned>(traffic_class)))
      return static_cast<std::uint8_t>(traffic_class);
  return std::nullopt;
}

Problem no_queue_free(const Intent& intent, const SwitchIntent& device,
                      const Capabilities& capabilities, std::uint64_t dlcp_dscps) {
  Problem problem = problem_at(intent, device, "no queue is free");
  problem.expected =
      "at least one queue that no DSCP of the site leads to and PFC does not protect";
  if (capabilities.control_plane_queue >= 0) {
    problem.expected +=
        fmt::format(", other than queue {}, which carries the switch's own BGP and LACP packets",
                    capabilities.control_plane_queue);
  }
  problem.hint = may_take_hint(*device.site, capabilities, dlcp_dscps);
  if (problem.hint.empty())
    problem.hint = "merge two of the site's classes, or leave this switch out";
  return problem;
}

std::array<DscpRow, kDscpCount> site_rows(const SiteConfig& site) {
  std::array<DscpRow, kDscpCount> rows;
  for (unsigned dscp = 0; dscp < kDscpCount; ++dscp) {
    const auto traffic_class = site.dscp_to_class[dscp];
    if (!traffic_class) continue;
    rows[dscp].mapped = true;
    rows[dscp].traffic_class = *traffic_class;
    rows[dscp].queue = queue_of_class(site, *traffic_class);
  }
  return rows;
}

}  // namespace

Checked<Layout> lay_out(const Intent& intent, const SwitchIntent& device,
                        const Capabilities& capabilities) {
  Checked<Layout> result;
  check_collisions(intent, device, result.problems);
  check_permissions(intent, device, result.problems);
  check_classes(intent, device, capabilities, result.problems);
  const std::uint64_t dlcp_dscps = dscps_of(intent);
  auto free = free_queues(*device.site, capabilities, dlcp_dscps);
  if (free.any.empty())
    result.problems.push_back(no_queue_free(intent, device, capabilities, dlcp_dscps));
  if (has_errors(result.problems)) return result;

  Layout layout;
  layout.dscp = site_rows(*device.site);
  std::uint16_t taken = 0;
  // The control-plane queue is one more free queue unless the intent assigns the control part
  // to another queue.
  const auto control = intent.dlcp.queue_of[static_cast<std::size_t>(SwitchQueue::kStrictHigh)];
  free.control_plane =
      free.control_plane && (!control || *control == capabilities.control_plane_queue);
  const std::size_t count = free.any.size() + (free.control_plane ? 1 : 0);
  const auto parts =
      choose_parts(capabilities, count, intent.tenants.size() + 1, device, layout.merges);
  if (parts.size() > count) {
    Problem problem = problem_at(intent, device, "the tenants need more queues than are free");
    problem.seen = fmt::format("{} free", count);
    problem.expected = fmt::format("{}, at least one for each of {} tenants", parts.size(),
                                   intent.tenants.size() + 1);
    problem.hint = may_take_hint(*device.site, capabilities, dlcp_dscps);
    if (problem.hint.empty()) problem.hint = "reduce the number of tenants on this switch";
    result.problems.push_back(std::move(problem));
    return result;
  }
  const NamedQueues asked = named_queues(intent, parts);
  for (const Part& part : parts) {
    QueuePlan plan = queue_of(part, intent, capabilities, layout.merges);
    if (plan.levels.empty()) continue;  // overrides have moved its classes to other queues
    if (!choose_queue(intent, device, capabilities, part, asked, free, plan, result.problems))
      continue;
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
    for (const Level& level : plan.levels)
      for (const std::uint8_t dscp : level.dscps)
        layout.dscp[dscp] = {Owner::kDlcp, true, plan.traffic_class, plan.queue, 0};
    layout.queues.push_back(std::move(plan));
  }
  std::sort(layout.queues.begin(), layout.queues.end(),
            [](const QueuePlan& a, const QueuePlan& b) { return a.queue < b.queue; });
  number_levels(layout.queues, layout.dscp);
  note_unused_names(intent, asked, layout);
  if (!has_errors(result.problems)) result.value = std::move(layout);
  return result;
}

}  // namespace dlcp::fabric
