// `dlcp-switch keys` and `dlcp-switch targets`: the tables of README.
#include <fmt/core.h>

#include "switch/capability/capability.h"
#include "switch/capability/targets.h"
#include "switch/cli/output.h"
#include "switch/cli/verbs.h"
#include "switch/model/intent_keys.h"

namespace dlcp::fabric::cli {

ExitCode run_keys() {
  fmt::print("{}", key_table_text());
  return ExitCode::kOk;
}

ExitCode run_targets(const TargetsOptions& options) {
  const auto table = [&] {
    return options.features ? feature_table_text() : capability_table_text();
  };
  fmt::print("{}", options.json ? targets_json(known_targets()) : table());
  return ExitCode::kOk;
}

}  // namespace dlcp::fabric::cli
