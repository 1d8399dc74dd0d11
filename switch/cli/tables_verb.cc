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
  auto features = std::make_shared<bool>(false);
  targets->add_flag("--features", *features, "Who has trimming, spraying, seeds and watchdogs");
  targets->callback([json, features, &exit_code] {
    const auto table = [&] { return *features ? feature_table_text() : capability_table_text(); };
    fmt::print("{}", *json ? targets_json(known_targets()) : table());
    exit_code = ExitCode::kOk;
  });
}

}  // namespace dlcp::fabric::cli
