// Combines the plan of a switch: capabilities, layout, depths, shares, in that order. Each step
// adds its problems, merges and reasoning; planning stops after the first step with errors.
#include "switch/plan/plan.h"

#include <fmt/core.h>

#include "switch/plan/buffer/thresholds.h"
#include "switch/plan/features.h"
#include "switch/plan/ports.h"
#include "switch/plan/queues/layout.h"
#include "switch/plan/queues/shares.h"
#include "switch/plan/remarking.h"

namespace dlcp::fabric {
namespace {

void locate(const Intent& intent, const SwitchIntent& device, std::vector<Problem>& problems) {
  for (Problem& problem : problems) {
    if (!problem.file.empty()) continue;
    const Problem located = problem_at(intent, device, std::move(problem.what));
    problem.file = located.file;
    problem.line = located.line;
    problem.what = located.what;
  }
}

void check_features(const Intent& intent, const SwitchIntent& device,
                    const Capabilities& capabilities, std::vector<Problem>& problems) {
  if (device.overlay == Overlay::kVxlanUniform && !capabilities.overlay_uniform) {
    Problem problem;
    problem.what = fmt::format(
        "overlay: it is not known whether {} copies DSCP and ECN at tunnel ends", device.os);
    problem.seen = "vxlan-uniform";
    problem.expected = "none";
    problem.hint = "carry DLCP outside the overlay, or leave this switch out";
    problems.push_back(std::move(problem));
  }
  for (const PortGroup& group : device.port_groups) {
    if (group.lag.empty() || capabilities.lag_members) continue;
    Problem problem;
    problem.file = intent.file;
    problem.line = group.line;
    problem.what = fmt::format("link aggregates are not supported by {} on switch '{}'", device.os,
                               device.name);
    problem.seen = group.lag;
    problems.push_back(std::move(problem));
  }
  if (device.alpha_exponent && capabilities.alpha_exponent_min != capabilities.alpha_exponent_max &&
      (*device.alpha_exponent < capabilities.alpha_exponent_min ||
       *device.alpha_exponent > capabilities.alpha_exponent_max)) {
    Problem problem;
    problem.what = "buffer.alpha is outside the target's range";
    problem.seen = fmt::format("2^{}", *device.alpha_exponent);
    problem.expected = fmt::format("2^{} to 2^{}", capabilities.alpha_exponent_min,
                                   capabilities.alpha_exponent_max);
    problems.push_back(std::move(problem));
  }
}

}  // namespace

Checked<SwitchPlan> plan_switch(const Intent& intent, const SwitchIntent& asked) {
  Checked<SwitchPlan> result;
  SwitchIntent device = asked;
  const auto finish = [&](std::vector<Problem> problems) {
    locate(intent, device, problems);
    for (Problem& problem : problems)
      result.problems.push_back(std::move(problem));
    return !has_errors(result.problems);
  };

  if (!finish(resolve_ports(intent, device))) return result;
  auto capabilities = find_capabilities(device.os, device.version, device.asic);
  if (!finish(std::move(capabilities.problems))) return result;
  SwitchPlan plan;
  plan.capabilities = *capabilities.value;
  std::vector<Problem> refused;
  check_features(intent, device, plan.capabilities, refused);
  auto layout = lay_out(intent, device, plan.capabilities);
  refused.insert(refused.end(), layout.problems.begin(), layout.problems.end());
  if (!finish(std::move(refused))) return result;

  auto groups = set_depths(intent, device, plan.capabilities, *layout.value, plan.reasoning);
  if (!finish(std::move(groups.problems))) return result;
  if (!finish(assign_shares(intent, device, plan.capabilities, *layout.value, plan.reasoning)))
    return result;
  plan.groups = std::move(*groups.value);
  for (PortGroupPlan& group : plan.groups) {
    for (std::size_t i = 0; i < group.queues.size(); ++i) {
      group.queues[i].weight = layout.value->queues[i].weight;
      group.queues[i].share_percent = layout.value->queues[i].share_percent;
    }
  }
  plan.name = device.name;
  plan.os = device.os;
  plan.version = device.version;
  plan.asic = device.asic;
  plan.sku = device.sku;
  plan.role = device.role;
  plan.overlay = device.overlay;
  plan.site = device.site;
  plan.classes = intent.dlcp.classes;
  for (const TenantIntent& tenant : intent.tenants) {
    plan.tenants.push_back(tenant.name);
    plan.tenant_classes.push_back(tenant.dlcp.classes);
  }
  plan.dlcp_dscps = dscps_of(intent);
  plan.dscp = layout.value->dscp;
  plan.merges = std::move(layout.value->merges);
  plan.hash_seed = device.hash_seed ? device.hash_seed : device.site->hash_seed;
  if (!finish(plan_features(intent, device, plan))) return result;
  plan_remarking(plan);
  result.value = std::move(plan);
  return result;
}

}  // namespace dlcp::fabric
