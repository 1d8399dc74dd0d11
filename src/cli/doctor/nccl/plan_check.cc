#include "cli/doctor/nccl/plan_check.h"

#include <fmt/format.h>

#include <utility>

#include "engine/settings/environment.h"
#include "engine/settings/settings.h"
#include "synth/evaluate/proven_sum.h"
#include "synth/plan/plan_file.h"

namespace dlcp::cli {
namespace {

constexpr const char* kCheck = "plan";

Finding refused(const std::string& path, const std::string& what, const std::string& hint) {
  return {kCheck, Level::kFail, fmt::format("DLCP_PLAN: '{}': {}", path, what), hint};
}

}  // namespace

Findings check_plan() {
  const auto settings = engine::process_settings();
  if (!settings || settings.value().plan_file.empty())
    return {};  // bad settings are reported by another finding
  const std::string& path = settings.value().plan_file;
  const auto text = engine::read_named("DLCP_PLAN", path, engine::read_text_file,
                                       "write one with dlcp synth --collective allreduce -o FILE");
  if (!text) return {{kCheck, Level::kFail, text.error().what, text.error().hint}};
  const auto plan = synth::read_plan(text.value(), path);
  if (!plan) return {{kCheck, Level::kFail, "DLCP_PLAN: " + plan.error().what, plan.error().hint}};
  if (plan.value().collective != synth::Collective::kAllReduce) {
    return {refused(path, fmt::format("a plan for {}", synth::name_of(plan.value().collective)),
                    "only all-reduces can use plans: dlcp synth --collective allreduce -o FILE")};
  }
  for (const synth::Bracket& bracket : plan.value().brackets) {
    const auto schedule = synth::proven_all_reduce(plan.value(), bracket.recipe);
    if (!schedule) return {refused(path, schedule.error().what, schedule.error().hint)};
  }
  return {{kCheck, Level::kOk,
           fmt::format("all-reduces of {} hosts use plan {}: {}, proven", plan.value().ranks,
                       synth::hash_of(plan.value()), plan.value().topology),
           ""}};
}

}  // namespace dlcp::cli
