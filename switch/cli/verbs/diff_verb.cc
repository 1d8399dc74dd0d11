// `dlcp-switch diff`: the rows that would change against the imported running configuration.
#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "switch/cli/report/message_list.h"
#include "switch/cli/report/output.h"
#include "switch/cli/verbs/verbs.h"
#include "switch/vendors/vendor.h"

namespace dlcp::fabric::cli {
namespace {

std::string text_of(const std::vector<Change>& changes) {
  std::string text = fmt::format("{} {}\n", counted(changes.size(), "row"),
                                 changes.size() == 1 ? "changes" : "change");
  for (const auto& [row, before, after, impact] : changes) {
    if (!before.empty()) text += fmt::format("- {}: {}\n", row, before);
    if (!after.empty()) text += fmt::format("+ {}: {}  ({})\n", row, after, name_of(impact));
  }
  return text;
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
    print_problems(loaded.problems, {.all = options.all});
    std::vector<NamedReport> reports;
    for (const auto& [name, rendering] : switches)
      reports.push_back({name, text_of(rendering.changes)});
    // Switches with equal changes are printed together.
    for (const SharedReport& report : joined_reports(reports))
      fmt::print("{}: {}", first_names(report.names, options.all), report.text);
  }
  const ExitCode outcome = outcome_of(loaded);
  return outcome == ExitCode::kOk && differs ? ExitCode::kDiffers : outcome;
}

}  // namespace dlcp::fabric::cli
