// `dlcp`: one binary, a verb per job.
#include <fcntl.h>
#include <unistd.h>

#include "cli/command_line/options/parse.h"
#include "cli/commands.h"

namespace {

// Some launchers close stdin, stdout or stderr. A socket that is opened then would get their number
// and receive the program's output.
void fill_standard_streams() {
  for (int fd = open("/dev/null", O_RDWR); fd >= 0; fd = open("/dev/null", O_RDWR)) {
    if (fd <= STDERR_FILENO) continue;
    close(fd);
    return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace dlcp::cli;
  fill_standard_streams();
  const Program program{
      "dlcp",
      "dlcp: tools for libnccl-net-dlcp.so, DLCP's network plugin for NCCL. To use the plugin "
      "in a job, set NCCL_NET_PLUGIN=dlcp NCCL_NET=DLCP. `dlcp doctor` checks a host and a "
      "network; `dlcp bench` measures them.",
      DLCP_VERSION, "`dlcp COMMAND --help` explains a command, its numbers and its exit codes."};
  constexpr AddVerb kVerbs[] = {add_doctor,   add_abi,      add_bench,        add_order, add_synth,
                                add_simulate, add_stats,    add_top,          add_exact, add_whatif,
                                add_knobs,    add_counters, add_traffic_class};
  return static_cast<int>(run_program(program, kVerbs, argc, argv));
}
