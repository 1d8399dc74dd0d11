// `dlcp doctor`: is this host, and the path to another, fit for the plugin?
#pragma once

#include <CLI/CLI.hpp>

#include "cli/exit_code.h"

namespace dlcp::cli {

void add_doctor(CLI::App& app, ExitCode& exit_code);

}  // namespace dlcp::cli
