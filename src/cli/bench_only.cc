// `dlcp bench` without the other verbs, which scripts/demo builds in half the time.
#include "cli/command_line/options/parse.h"
#include "cli/commands.h"

int main(int argc, char** argv) {
  using namespace dlcp::cli;
  const Program program{"bench_only",
                        "bench_only: `dlcp bench` as a program of its own, for scripts/demo.",
                        DLCP_VERSION, "`bench_only bench --help` explains its options."};
  constexpr AddVerb kVerbs[] = {add_bench};
  return static_cast<int>(run_program(program, kVerbs, argc, argv));
}
