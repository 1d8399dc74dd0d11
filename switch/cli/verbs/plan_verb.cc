// `dlcp-switch plan`: prints the numbers, and with --explain their derivation.
#include <fmt/core.h>

#include "switch/cli/report/output.h"
#include "switch/cli/report/plan_text.h"
#include "switch/cli/verbs/verbs.h"

namespace dlcp::fabric::cli {
namespace {

// Equal switches (a range of the intent) are printed once.
bool same_but_name(const SwitchPlan& a, const SwitchPlan& b) {
  return a.site == b.site && a.os == b.os && a.reasoning == b.reasoning && a.role == b.role &&
         a.asic == b.asic && !a.groups.empty() && !b.groups.empty() &&
         a.groups.front().group.line == b.groups.front().group.line;
}

}  // namespace

ExitCode run_plan(const PlanOptions& options) {
  const Loaded loaded = load(options.intent);
  if (options.intent.json) {
    fmt::print("{}", plans_json(loaded.plans, loaded.problems));
    return outcome_of(loaded);
  }
  print_problems(loaded.problems, {.notes = options.explain, .all = options.intent.all});
  for (std::size_t i = 0; i < loaded.plans.size();) {
    std::size_t next = i + 1;
    while (next < loaded.plans.size() && same_but_name(loaded.plans[i], loaded.plans[next]))
      ++next;
    if (next - i > 1) {
      fmt::print("{} equal switches, {} to {}:\n", next - i, loaded.plans[i].name,
                 loaded.plans[next - 1].name);
    }
    fmt::print("{}\n", plan_text(loaded.plans[i], options.explain));
    i = next;
  }
  return outcome_of(loaded);
}

}  // namespace dlcp::fabric::cli
