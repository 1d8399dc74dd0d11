// `dlcp-switch keys` and `dlcp-switch targets`: the tables of README.
#include <fmt/core.h>
#include <unistd.h>

#include "switch/capability/capability.h"
#include "switch/capability/targets.h"
#include "switch/cli/command_line/wrap.h"
#include "switch/cli/report/output.h"
#include "switch/cli/verbs/verbs.h"
#include "switch/model/intent_file/intent_keys.h"

namespace dlcp::fabric::cli {

namespace {

// Prints Markdown if stdout is not a terminal, for inclusion in documents.
void print_table(const std::string& table) {
  fmt::print("{}", isatty(STDOUT_FILENO) != 0 ? as_list(table, output_width()) : table);
}

}  // namespace

ExitCode run_keys() {
  print_table(key_table_text());
  return ExitCode::kOk;
}

ExitCode run_targets(const TargetsOptions& options) {
  if (options.json)
    fmt::print("{}", targets_json(known_targets()));
  else
    print_table(options.features ? feature_table_text() : capability_table_text());
  return ExitCode::kOk;
}

}  // namespace dlcp::fabric::cli
