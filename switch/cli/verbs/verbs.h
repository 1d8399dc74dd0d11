// The verbs of `dlcp-switch` with their options, one source file each. A verb prints its output and
// returns the exit code; command_line.cc reads the options.
#pragma once

#include <string>

#include "switch/cli/exit_code.h"
#include "switch/cli/load.h"
#include "switch/cli/rollout/rollout.h"

namespace dlcp::fabric::cli {

struct InitOptions {
  std::string file = "intent.yaml";
  std::string classes;  // a class file to write as well; empty: none
};
ExitCode run_init(const InitOptions& options);

struct PlanOptions {
  IntentOptions intent;
  bool explain = false;
};
ExitCode run_plan(const PlanOptions& options);

struct CheckOptions {
  IntentOptions intent;
  bool strict = false;
};
ExitCode run_check(const CheckOptions& options);

struct RenderOptions {
  IntentOptions intent;
  std::string folder = "switches";
  bool unverified = false;
};
ExitCode run_render(const RenderOptions& options);

ExitCode run_diff(const IntentOptions& options);

struct VerifyOptions {
  IntentOptions intent;
  std::string captured;
};
ExitCode run_verify(const VerifyOptions& options);

struct TraceOptions {
  IntentOptions intent;
  std::string from, to, only_class;
};
ExitCode run_trace(const TraceOptions& options);

struct RolloutOptions {
  IntentOptions intent;
  std::string folder = "switches";
  RolloutPace pace;
};
ExitCode run_rollout(const RolloutOptions& options);

struct TelemetryOptions {
  IntentOptions intent;
  std::string folder = "switches";
};
ExitCode run_telemetry(const TelemetryOptions& options);

struct TargetsOptions {
  bool json = false;
  bool features = false;
};
ExitCode run_targets(const TargetsOptions& options);
ExitCode run_keys();

}  // namespace dlcp::fabric::cli
