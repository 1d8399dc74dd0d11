// `dlcp`: one binary, a verb per job. Registers the verbs and turns their outcome into the exit
// code.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command_line/help.h"
#include "cli/command_line/parse.h"
#include "cli/commands.h"

int main(int argc, char** argv) {
  using dlcp::cli::ExitCode;
  CLI::App app{
      "dlcp: tools around libnccl-net-dlcp.so, the network of distributed training over UDP. Use "
      "the "
      "plugin in a job with NCCL_NET_PLUGIN=dlcp NCCL_NET=DLCP; see what a network allows with "
      "`dlcp doctor` and gives with `dlcp bench`."};
  app.formatter(std::make_shared<dlcp::cli::HelpFormatter>());
  app.name("dlcp");
  app.set_version_flag("--version", std::string("dlcp ") + DLCP_VERSION);
  app.require_subcommand(1);
  app.footer("`dlcp VERB --help` explains a verb, its numbers and its exit codes.");
  ExitCode exit_code = ExitCode::kOk;
  dlcp::cli::add_doctor(app, exit_code);
  dlcp::cli::add_abi(app, exit_code);
  dlcp::cli::add_bench(app, exit_code);
  dlcp::cli::add_stats(app, exit_code);
  dlcp::cli::add_top(app, exit_code);
  dlcp::cli::add_exact(app, exit_code);
  dlcp::cli::add_knobs(app, exit_code);
  dlcp::cli::add_counters(app, exit_code);
  dlcp::cli::add_traffic_class(app, exit_code);
  return static_cast<int>(dlcp::cli::parse_and_run(app, argc, argv, exit_code));
}
