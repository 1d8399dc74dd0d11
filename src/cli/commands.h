// The verbs of `dlcp`, one source file each. add_* registers a subcommand whose callback stores its
// result in `exit_code`; main() does the rest.
#pragma once

#include "cli/exit_code.h"

namespace CLI {
class App;
}

namespace dlcp::cli {

void add_abi(CLI::App& app, ExitCode& exit_code);  // in cli/doctor
void add_bench(CLI::App& app, ExitCode& exit_code);
void add_doctor(CLI::App& app, ExitCode& exit_code);
void add_order(CLI::App& app, ExitCode& exit_code);
void add_knobs(CLI::App& app, ExitCode& exit_code);
void add_counters(CLI::App& app, ExitCode& exit_code);
void add_traffic_class(CLI::App& app, ExitCode& exit_code);
void add_exact(CLI::App& app, ExitCode& exit_code);  // in cli/stats, as are the next two
void add_stats(CLI::App& app, ExitCode& exit_code);
void add_simulate(CLI::App& app, ExitCode& exit_code);  // in cli/simulate
void add_synth(CLI::App& app, ExitCode& exit_code);     // in cli/synth
void add_top(CLI::App& app, ExitCode& exit_code);
void add_whatif(CLI::App& app, ExitCode& exit_code);  // in cli/whatif

}  // namespace dlcp::cli
