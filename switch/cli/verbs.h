// The verbs of `dlcp-switch`, one source file each. add_* registers a subcommand whose callback
// leaves its outcome in `exit_code`; main() does the rest.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace dlcp::fabric::cli {

// Documented in --help of every verb and in README.
enum class ExitCode : int {
  kOk = 0,
  kWrong = 1,  // the intent, the site or a plan has errors; nothing was written
  kUsage = 2,
  kRefused = 3,  // text that no grammar has checked, without --unverified
  kDiffers = 4,  // diff: there is something to change; verify: counters are not as planned
  kFiles = 5,    // a file cannot be read or written
};

// What every verb that reads an intent takes.
struct IntentOptions {
  std::string file;
  std::string only;  // one switch; empty: all
  bool json = false;
};
void add_intent_options(CLI::App& verb, IntentOptions& options);

void add_init(CLI::App& app, ExitCode& exit_code);
void add_plan(CLI::App& app, ExitCode& exit_code);
void add_render(CLI::App& app, ExitCode& exit_code);
void add_check(CLI::App& app, ExitCode& exit_code);
void add_diff(CLI::App& app, ExitCode& exit_code);
void add_verify(CLI::App& app, ExitCode& exit_code);
void add_rollout(CLI::App& app, ExitCode& exit_code);
void add_trace(CLI::App& app, ExitCode& exit_code);
void add_telemetry(CLI::App& app, ExitCode& exit_code);
void add_tables(CLI::App& app, ExitCode& exit_code);

}  // namespace dlcp::fabric::cli
