// The command line of `dlcp-switch`: verbs, options and help; runs the requested verb.
#pragma once

#include "switch/cli/exit_code.h"

namespace dlcp::fabric::cli {

ExitCode run_command_line(int argc, char** argv);

}  // namespace dlcp::fabric::cli
