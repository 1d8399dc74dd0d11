// `dlcp-switch`: from a short description of a fabric to configuration of its switches.
#include "switch/cli/command_line.h"

int main(int argc, char** argv) {
  return static_cast<int>(dlcp::fabric::cli::run_command_line(argc, argv));
}
