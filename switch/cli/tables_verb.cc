// `dlcp-switch keys` and `dlcp-switch targets`: the tables of README.
#include <fmt/core.h>

#include <memory>

#include "switch/capability/capability.h"
#include "switch/capability/targets.h"
#include "switch/cli/output.h"
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
  auto json = std::make_shared<bool>(false);
  targets->add_flag("--json", *json, "One JSON object on standard output");
  targets->callback([json, &exit_code] {
    fmt::print("{}", *json ? targets_json(known_targets()) : capability_table_text());
    exit_code = ExitCode::kOk;
  });
}

}  // namespace dlcp::fabric::cli
