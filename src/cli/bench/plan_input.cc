#include "cli/bench/plan_input.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "synth/verify.h"

namespace dlcp::cli {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw BenchError(ExitCode::kUsage, what);
}

}  // namespace

std::optional<synth::Plan> plan_for(Mode mode, const std::string& path) {
  if (mode != Mode::kPlan && !path.empty()) refuse("--plan goes with --mode plan");
  if (mode != Mode::kPlan) return std::nullopt;
  if (path.empty()) refuse("--mode plan needs --plan FILE; dlcp synth -o FILE makes one");
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  auto plan = synth::read_plan(text, path);
  if (!plan) refuse(plan.error().message());
  if (plan->ranks < 2) refuse(fmt::format("{} is for a single rank, which sends nothing", path));
  return plan.value();
}

std::shared_ptr<const synth::Schedule> schedule_of(const synth::Plan& plan, std::size_t bytes) {
  synth::Recipe recipe = plan.bracket_for(static_cast<double>(bytes)).recipe;
  const int slices = recipe.slices;
  recipe.slices = 1;  // slices are copies that share nothing: one is the proof of all
  auto once = synth::expand(recipe, plan.collective, plan.ranks);
  if (!once) refuse(once.error().message());
  const auto verdict = synth::verify(once.value());
  if (!verdict.correct)
    refuse(fmt::format("the plan's '{}' is wrong: {}", recipe.name, verdict.why));
  recipe.slices = slices;
  auto schedule = synth::expand(recipe, plan.collective, plan.ranks);
  if (!schedule) refuse(schedule.error().message());
  schedule->sort_by_step();
  return std::make_shared<const synth::Schedule>(std::move(schedule.value()));
}

}  // namespace dlcp::cli
