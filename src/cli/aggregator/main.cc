// `dlcp-aggregator`: performs the additions of SwitchML's switch on a host.
#include "cli/aggregator/verbs.h"
#include "cli/command_line/options/parse.h"

int main(int argc, char** argv) {
  using namespace dlcp::cli;
  const Program program{"dlcp-aggregator",
                        "dlcp-aggregator: adds the numbers of up to 32 workers as SwitchML's "
                        "switch does (UDP mode of p4app-switchML), but runs on a host.",
                        DLCP_VERSION,
                        "`dlcp-aggregator COMMAND --help` explains a command and its exit "
                        "codes."};
  constexpr AddVerb kVerbs[] = {add_serve, add_check};
  return static_cast<int>(run_program(program, kVerbs, argc, argv));
}
