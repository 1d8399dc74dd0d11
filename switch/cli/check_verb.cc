// `dlcp-switch check`: everything that can be said about an intent without writing anything: the
// file, the plans, the semantic checks, and what the vendors find while rendering.
#include <fmt/core.h>

#include <algorithm>

#include "switch/cli/output.h"
#include "switch/cli/verbs.h"

namespace dlcp::fabric::cli {

ExitCode run_check(const CheckOptions& options) {
  const Loaded loaded = load(options.intent, {}, render_for_problems);
  const auto count = [&loaded](Severity severity) {
    return std::count_if(loaded.problems.begin(), loaded.problems.end(),
                         [severity](const Problem& p) { return p.severity == severity; });
  };
  if (options.intent.json) {
    fmt::print("{}", problems_json(collapsed(loaded.problems)));
  } else {
    print_problems(loaded.problems, true);
    if (loaded.intent) fmt::print("{} switches: ", loaded.intent->switches.size());
    fmt::print("{} errors, {} warnings, {} notes\n", count(Severity::kError),
               count(Severity::kWarning), count(Severity::kNote));
  }
  if (options.strict && count(Severity::kWarning) > 0) return ExitCode::kWrong;
  return outcome_of(loaded);
}

}  // namespace dlcp::fabric::cli
