// `dlcp`: one binary, a verb per job.
#include "cli/command_line/parse.h"
#include "cli/commands.h"

int main(int argc, char** argv) {
  using namespace dlcp::cli;
  const Program program{
      "dlcp",
      "dlcp: tools around libnccl-net-dlcp.so, the network of distributed training over UDP. Use "
      "the plugin in a job with NCCL_NET_PLUGIN=dlcp NCCL_NET=DLCP; see what a network allows with "
      "`dlcp doctor` and gives with `dlcp bench`.",
      DLCP_VERSION, "`dlcp VERB --help` explains a verb, its numbers and its exit codes."};
  constexpr AddVerb kVerbs[] = {add_doctor, add_abi,      add_bench,    add_order,
                                add_synth,  add_simulate, add_stats,    add_top,
                                add_exact,  add_knobs,    add_counters, add_traffic_class};
  return static_cast<int>(run_program(program, kVerbs, argc, argv));
}
