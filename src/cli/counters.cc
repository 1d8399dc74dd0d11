// `dlcp counters`: what each counter means, as the table in README.
#include "core/counters.h"

#include <fmt/format.h>

#include "cli/commands.h"

namespace dlcp::cli {

void add_counters(CLI::App& app, ExitCode& exit_code) {
  CLI::App* counters =
      app.add_subcommand("counters", "What the counters mean: if this grows, look there");
  counters->callback([&exit_code] {
    fmt::print("| counter | if it grows |\n|---|---|\n");
    for (const core::CounterRow& row : core::kCounterRows)
      fmt::print("| `{}` | {} |\n", row.name, row.help);
    exit_code = ExitCode::kOk;
  });
}

}  // namespace dlcp::cli
