// `dlcp-hub`: adds the contributions of jobs' ranks, on a separate host.
#include "cli/command_line/options/parse.h"
#include "cli/hub/verbs.h"

int main(int argc, char** argv) {
  using namespace dlcp::cli;
  const Program program{"dlcp-hub",
                        "dlcp-hub: adds gradients instead of the ranks, for jobs whose "
                        "DLCP_COLLNET_HUBS names this host.",
                        DLCP_VERSION,
                        "`dlcp-hub serve --help` explains its options and exit codes."};
  constexpr AddVerb kVerbs[] = {add_serve};
  return static_cast<int>(run_program(program, kVerbs, argc, argv));
}
