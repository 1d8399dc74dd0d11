// `dlcp-switch`: generates switch configuration from a short description of a fabric.
#include "switch/cli/command_line/command_line.h"

int main(int argc, char** argv) {
  return static_cast<int>(dlcp::fabric::cli::run_command_line(argc, argv));
}
