// The verb of `dlcp-hub`.
#pragma once

#include "cli/exit_code.h"

namespace CLI {
class App;
}

namespace dlcp::cli {

void add_serve(CLI::App& app, ExitCode& exit_code);

}  // namespace dlcp::cli
