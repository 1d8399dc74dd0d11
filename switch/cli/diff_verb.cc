// `dlcp-switch diff`: the rows that would change against the imported running configuration.
#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "switch/cli/output.h"
#include "switch/cli/verbs.h"
#include "switch/vendors/vendor.h"

namespace dlcp::fabric::cli {
namespace {

void print_change(const Change& change) {
  if (!change.before.empty()) fmt::print("- {}: {}\n", change.row, change.before);
  if (!change.after.empty())
    fmt::print("+ {}: {}  ({})\n", change.row, change.after, name_of(change.impact));
}

}  // namespace

ExitCode run_diff(const IntentOptions& options) {
  std::vector<Rendered> switches;
  const Loaded loaded = load(
      options, [&](const Intent& intent) { switches.resize(intent.switches.size()); },
      [&](std::size_t index, const SwitchIntent& device, const SwitchPlan& plan,
          std::vector<Problem>& problems) {
        const Vendor* const vendor = find_vendor(plan.os);
        if (vendor == nullptr) return;
        Rendering rendering = vendor->render(plan);
        std::move(rendering.problems.begin(), rendering.problems.end(),
                  std::back_inserter(problems));
        switches[index].name = device.name;
        switches[index].rendering.changes = std::move(rendering.changes);
      });
  if (has_errors(loaded.problems)) switches.clear();
  const bool differs = std::any_of(switches.begin(), switches.end(), [](const Rendered& each) {
    return !each.rendering.changes.empty();
  });
  if (options.json) {
    fmt::print("{}", changes_json(switches, loaded.problems));
  } else {
    print_problems(loaded.problems, false);
    for (const auto& [name, rendering] : switches) {
      fmt::print("{}: {} rows change\n", name, rendering.changes.size());
      for (const Change& change : rendering.changes)
        print_change(change);
    }
  }
  const ExitCode outcome = outcome_of(loaded);
  return outcome == ExitCode::kOk && differs ? ExitCode::kDiffers : outcome;
}

}  // namespace dlcp::fabric::cli
