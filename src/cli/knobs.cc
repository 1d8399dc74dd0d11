// `dlcp knobs`: the knob table, as in README.
#include "engine/knobs.h"

#include <fmt/format.h>

#include "cli/commands.h"

namespace dlcp::cli {

void add_knobs(CLI::App& app, ExitCode& exit_code) {
  CLI::App* knobs = app.add_subcommand("knobs", "What can be set, its range and its default");
  knobs->callback([&exit_code] {
    fmt::print("{}", engine::knobs_markdown());
    exit_code = ExitCode::kOk;
  });
}

}  // namespace dlcp::cli
