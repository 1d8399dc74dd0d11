#include "cli/bench/plan_input.h"

#include <fmt/format.h>

#include <utility>

#include "cli/command_line/text_file.h"
#include "synth/verify.h"

namespace dlcp::cli {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw BenchError(ExitCode::kUsage, what);
}

}  // namespace

std::optional<synth::Plan> plan_for(bool runs, const std::string& path) {
  if (!runs && !path.empty())
    refuse("--plan goes with --mode plan, or --mode allreduce --algo plan");
  if (!runs) return std::nullopt;
  if (path.empty()) refuse("what is to be run needs --plan FILE; dlcp synth -o FILE makes one");
  auto plan = value_or_throw(synth::read_plan(value_or_throw(read_text_file(path)), path));
  if (plan.ranks < 2) refuse(fmt::format("{} is for a single rank, which sends nothing", path));
  return plan;
}

std::shared_ptr<const synth::Schedule> schedule_of(const synth::Plan& plan, std::size_t bytes) {
  synth::Recipe recipe = plan.bracket_for(static_cast<double>(bytes)).recipe;
  const int slices = recipe.slices;
  recipe.slices = 1;  // slices are copies that share nothing: one is the proof of all
  const auto once = value_or_throw(synth::expand(recipe, plan.collective, plan.ranks));
  const auto verdict = synth::verify(once);
  if (!verdict.correct)
    refuse(fmt::format("the plan's '{}' is wrong: {}", recipe.name, verdict.why));
  recipe.slices = slices;
  auto schedule = value_or_throw(synth::expand(recipe, plan.collective, plan.ranks));
  schedule.sort_by_step();
  return std::make_shared<const synth::Schedule>(std::move(schedule));
}

}  // namespace dlcp::cli
