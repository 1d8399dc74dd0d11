// `dlcp-switch check`: reports all problems of an intent without writing anything: the file, the
// plans, the semantic checks, and problems that vendors find while rendering.
#include <fmt/core.h>

#include <algorithm>

#include "switch/cli/report/output.h"
#include "switch/cli/verbs/verbs.h"

namespace dlcp::fabric::cli {

ExitCode run_check(const CheckOptions& options) {
  const Loaded loaded = load(options.intent, {}, render_for_problems);
  const auto count = [&loaded](Severity severity) {
    return static_cast<std::size_t>(
        std::count_if(loaded.problems.begin(), loaded.problems.end(),
                      [severity](const Problem& p) { return p.severity == severity; }));
  };
  if (options.intent.json) {
    fmt::print("{}", problems_json(collapsed(loaded.problems)));
  } else {
    print_problems(loaded.problems, {.notes = true, .all = options.intent.all});
    if (loaded.intent) fmt::print("{}: ", counted(loaded.intent->switches.size(), "switch"));
    fmt::print("{}, {}, {}\n", counted(count(Severity::kError), "error"),
               counted(count(Severity::kWarning), "warning"),
               counted(count(Severity::kNote), "note"));
  }
  if (options.strict && count(Severity::kWarning) > 0) return ExitCode::kWrong;
  return outcome_of(loaded);
}

}  // namespace dlcp::fabric::cli
