// `dlcp-switch keys` and `dlcp-switch targets`: the tables of README.
#include <fmt/core.h>

#include "switch/capability/capability.h"
#include "switch/cli/verbs.h"
#include "switch/model/intent_keys.h"

namespace dlcp::fabric::cli {

void add_tables(CLI::App& app, ExitCode& exit_code) {
  CLI::App* keys = app.add_subcommand("keys", "Every key of an intent file");
  keys->callback([&exit_code] {
    fmt::print("{}", key_table_text());
    exit_code = ExitCode::kOk;
  });
  CLI::App* targets = app.add_subcommand("targets", "What each kind of switch can express");
  targets->callback([&exit_code] {
    fmt::print("{}", capability_table_text());
    exit_code = ExitCode::kOk;
  });
}

}  // namespace dlcp::fabric::cli
