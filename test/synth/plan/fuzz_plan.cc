// Any plan file is either refused or gives a schedule that can be verified.
#include <string>

#include "fuzz_input.h"
#include "synth/evaluate/verify.h"
#include "synth/plan/plan_file.h"

using namespace dlcp::synth;

std::vector<std::string> fuzz_seeds() {
  Plan plan;
  plan.ranks = 4;
  plan.brackets.resize(1);
  plan.brackets[0].recipe.order = {0, 1, 2, 3};
  plan.brackets[0].recipe.levels = {{2, false}, {2, true}};
  std::vector<std::string> seeds{write_plan(plan)};
  plan.brackets[0].recipe = {"t", Family::kTrees, {}, {}, {{1, 0, {-1, 0, 0, 1}}}, {}, {}, 2};
  seeds.push_back(write_plan(plan));
  return seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  auto plan = read_plan(text, "fuzz");
  if (!plan) return 0;
  for (const Bracket& bracket : plan->brackets) {
    if (plan->ranks > 64 || bracket.recipe.slices > 4) continue;
    auto schedule = expand(bracket.recipe, plan->collective, plan->ranks);
    if (schedule) verify(schedule.value());
  }
  return 0;
}
