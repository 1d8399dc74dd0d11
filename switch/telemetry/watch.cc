#include "switch/telemetry/watch.h"

#include <fmt/format.h>

#include <algorithm>

namespace dlcp::fabric::telemetry {
namespace {

Part part_of(const QueuePlan& queue, bool sheds) {
  const auto carries = [&queue](SwitchQueue which) {
    return std::find(queue.carries.begin(), queue.carries.end(), which) != queue.carries.end();
  };
  const bool control = carries(SwitchQueue::kStrictHigh);
  if (sheds) return control || carries(SwitchQueue::kExact) ? Part::kMixed : Part::kSheds;
  return control && queue.carries.size() == 1 ? Part::kControl : Part::kExact;
}

WatchedQueue queue_of(const QueuePlan& plan, std::string label) {
  WatchedQueue queue;
  queue.queue = plan.queue;
  queue.label = std::move(label);
  queue.carries = plan.name;
  queue.marks = plan.mark_bytes.has_value();
  queue.limit_bytes = plan.limit_bytes;
  for (const Level& level : plan.levels) {
    for (const auto dscp : level.dscps)
      queue.dscps += (queue.dscps.empty() ? "" : " ") + std::to_string(dscp);
    if (!level.drop_bytes) continue;
    queue.shed_share += level.share;
    for (const TrafficClass member : level.classes)
      queue.shed += (queue.shed.empty() ? "" : ", ") + std::string(row_of(member).name);
  }
  queue.part = part_of(plan, !queue.shed.empty());
  return queue;
}

}  // namespace

const char* name_of(Part part) {
  constexpr const char* kNames[] = {"control", "exact", "sheds", "mixed"};
  return kNames[static_cast<int>(part)];
}

bool Watch::same_as(const Watch& other) const {
  return os == other.os && version == other.version && groups == other.groups &&
         lossless == other.lossless && priorities == other.priorities;
}

Watch watch_of(const SwitchPlan& plan, const Vendor& vendor) {
  Watch watch;
  watch.names = find_names(plan.os);
  watch.os = plan.os;
  watch.version = plan.version;
  watch.switches = {plan.name};
  const auto label = [&](int queue) {
    const bool by_name = watch.names != nullptr && watch.names->queues_by_name;
    return by_name ? vendor.queue_name(plan, queue) : std::to_string(queue);
  };
  for (const PortGroupPlan& group : plan.groups) {
    WatchedPorts& ports = watch.groups.emplace_back();
    ports.role = fabric::name_of(group.group.role);
    ports.bits_per_second = group.group.bits_per_second;
    ports.ports = group.group.ports;
    for (const QueuePlan& queue : group.queues)
      ports.queues.push_back(queue_of(queue, label(queue.queue)));
  }
  for (const SiteQueue& queue : plan.site->queues)
    if (queue.lossless) watch.lossless.push_back({queue.queue, label(queue.queue)});
  if (!plan.groups.empty())
    for (const QueuePlan& queue : plan.groups.front().queues)
      for (const int priority : {int{queue.queue}, int{queue.traffic_class}})
        if (priority < kQueueCount && (plan.site->pfc_priorities >> priority & 1) == 0)
          watch.priorities.push_back(priority);
  std::sort(watch.priorities.begin(), watch.priorities.end());
  watch.priorities.erase(std::unique(watch.priorities.begin(), watch.priorities.end()),
                         watch.priorities.end());
  return watch;
}

std::vector<Watch> joined(const std::vector<Watch>& switches) {
  std::vector<Watch> list;
  for (const Watch& watch : switches) {
    if (watch.switches.empty()) continue;
    const auto same = std::find_if(list.begin(), list.end(),
                                   [&](const Watch& other) { return other.same_as(watch); });
    if (same != list.end()) {
      same->switches.push_back(watch.switches.front());
      continue;
    }
    list.push_back(watch);
    list.back().name = fmt::format("plan-{}", list.size());
  }
  return list;
}

}  // namespace dlcp::fabric::telemetry
