#include "nccl/plan/plan_setting.h"

#include <string>
#include <utility>

#include "engine/settings/environment.h"

namespace dlcp::nccl {
namespace {

// Empty if DLCP_PLAN is not set.
Result<std::string> plan_text(const engine::Settings& settings) {
  if (settings.plan_file.empty()) return std::string();
  return engine::read_named("DLCP_PLAN", settings.plan_file, engine::read_text_file,
                            "create it with `dlcp synth -o FILE`, or unset the setting");
}

}  // namespace

Status check_plan_setting(const engine::Settings& settings) {
  const auto text = plan_text(settings);
  if (!text) return text.error();
  return text.value().empty() ? Status(Unit{})
                              : check_collective_plan(settings.plan_file, text.value());
}

Result<std::optional<CollectivePlan>> plan_for(const engine::Settings& settings, int ranks,
                                               int rank) {
  const auto text = plan_text(settings);
  if (!text) return text.error();
  if (text.value().empty()) return std::optional<CollectivePlan>();
  auto plan = collective_plan(settings.plan_file, text.value(), ranks, rank);
  if (!plan) return plan.error();
  return std::optional(std::move(plan).value());
}

}  // namespace dlcp::nccl
