// The verbs of `dlcp-aggregator`, one source file each, and the options that they share.
#pragma once

#include "cli/aggregator/server.h"
#include "cli/exit_code.h"

namespace CLI {
class App;
}

namespace dlcp::cli {

void add_serve(CLI::App& app, ExitCode& exit_code);
void add_check(CLI::App& app, ExitCode& exit_code);

inline ExitCode exit_code_of(const Error& error) {
  return error.code == ErrorCode::kInvalidUsage ? ExitCode::kUsage : ExitCode::kTransport;
}

void add_server_options(CLI::App& verb, ServerOptions& options);

}  // namespace dlcp::cli
