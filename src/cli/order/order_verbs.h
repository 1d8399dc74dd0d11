// The verbs of `dlcp order` that use an order file: write, rank, exec.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/exit_code.h"

namespace dlcp::cli {

void add_order_verbs(CLI::App& order, ExitCode& exit_code);

}  // namespace dlcp::cli
