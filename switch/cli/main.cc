// `dlcp-switch`: generates switch configuration from a short description of a fabric.
#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <system_error>

#include "switch/cli/command_line/command_line.h"

int main(int argc, char** argv) {
  using dlcp::fabric::cli::ExitCode;
  ExitCode outcome = ExitCode::kFiles;
  std::string why;
  try {
    outcome = dlcp::fabric::cli::run_command_line(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      why = std::generic_category().message(errno);
  } catch (const std::system_error& error) {  // from fmt::print()
    why = error.what();
  }
  if (why.empty()) return static_cast<int>(outcome);
  std::fprintf(stderr, "dlcp-switch: cannot write the output: %s\n", why.c_str());
  return static_cast<int>(outcome == ExitCode::kOk ? ExitCode::kFiles : outcome);
}
