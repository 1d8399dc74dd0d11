// `dlcp-switch check`: everything that can be said about an intent without writing anything: the
// file, the plans, the semantic checks, and what the vendors find while rendering.
#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "switch/cli/load.h"
#include "switch/cli/output.h"

namespace dlcp::fabric::cli {
namespace {

struct CheckOptions {
  IntentOptions intent;
  bool strict = false;
};

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

}  // namespace

void add_check(CLI::App& app, ExitCode& exit_code) {
  CLI::App* verb = app.add_subcommand(
      "check", "Look for what a well-formed configuration would still do wrong; writes nothing");
  auto options = std::make_shared<CheckOptions>();
  add_intent_options(*verb, options->intent);
  verb->add_flag("--strict", options->strict, "Exit 1 for warnings, too");
  verb->callback([options, &exit_code] { exit_code = run_check(*options); });
}

}  // namespace dlcp::fabric::cli
