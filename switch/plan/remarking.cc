#include "switch/plan/remarking.h"

#include <algorithm>

#include "switch/plan/queues/site_use.h"

namespace dlcp::fabric {

bool has_uplinks(const SwitchPlan& plan) {
  return std::any_of(
      plan.groups.begin(), plan.groups.end(),
      [](const PortGroupPlan& each) { return each.group.role == PortRole::kFabric; });
}

void plan_remarking(SwitchPlan& plan) {
  if (plan.capabilities.remarking != Remarking::kBySpareClass || !has_uplinks(plan)) return;
  unsigned used = classes_in_use(*plan.site, plan.dlcp_dscps);
  for (const PortGroupPlan& group : plan.groups)
    for (const QueuePlan& queue : group.queues)
      used |= 1U << queue.traffic_class;
  for (const DscpRow& row : plan.dscp)
    if (row.mapped) used |= 1U << row.traffic_class;
  const int own = plan.capabilities.control_plane_queue;
  for (const PortGroupPlan& each : plan.groups) {
    if (each.group.trust != Trust::kRemarked || remark_class(plan, each.group)) continue;
    for (int c = plan.capabilities.traffic_classes - 1; c > 0; --c) {
      const auto traffic_class = static_cast<std::uint8_t>(c);
      if ((used >> c & 1U) != 0 || queue_of_class(*plan.site, traffic_class) == own) continue;
      used |= 1U << c;
      plan.remark_classes[each.group.remark_dscp] = traffic_class;
      break;
    }
  }
}

std::optional<std::uint8_t> remark_class(const SwitchPlan& plan, const PortGroup& in) {
  if (in.trust != Trust::kRemarked) return std::nullopt;
  const auto found = plan.remark_classes.find(in.remark_dscp);
  return found == plan.remark_classes.end() ? std::nullopt : std::optional(found->second);
}

bool rewrites_marks(const SwitchPlan& plan, const PortGroup& in) {
  return plan.capabilities.remarking == Remarking::kRewrite || remark_class(plan, in).has_value();
}

}  // namespace dlcp::fabric
