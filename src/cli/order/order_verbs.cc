#include "cli/order/order_verbs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "cli/command_line/options/options.h"
#include "cli/command_line/text_file.h"
#include "cli/launch/bench_error.h"
#include "cli/order/order_input.h"
#include "cli/order/this_host.h"
#include "order/output/formats.h"
#include "order/output/rank_variables.h"
#include "util/system/system_text.h"

namespace dlcp::cli {
namespace {

struct VerbOptions {
  std::string file;
  std::string format;
  std::string out;
  std::string host;
  std::vector<std::string> command;
};

ExitCode write(const VerbOptions& options) {
  const auto file = value_or_throw(read_order_file(options.file));
  const std::string text = value_or_throw(order::find_format(options.format)->write(file));
  if (options.out.empty())
    fmt::print("{}", text);
  else
    value_or_throw(write_text_file(options.out, text));
  return ExitCode::kOk;
}

ExitCode rank(const VerbOptions& options) {
  const auto file = value_or_throw(read_order_file(options.file));
  const int host = value_or_throw(find_this_host(file.fabric, options.host));
  const auto place = std::ranges::find(file.order, host);
  fmt::print("{}\n", place - file.order.begin());
  return ExitCode::kOk;
}

ExitCode exec(const VerbOptions& options) {
  const auto file = value_or_throw(read_order_file(options.file));
  const int host = value_or_throw(find_this_host(file.fabric, options.host));
  const auto variables = value_or_throw(
      order::rank_variables(file, host, [](const char* name) { return std::getenv(name); }));
  for (const auto& [name, value] : variables.set)
    setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& word : options.command)
    arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments.front(), arguments.data());
  throw BenchError(ExitCode::kUsage,
                   fmt::format("cannot run '{}': {}", options.command.front(), system_text(errno)));
}

CLI::App* add_verb(CLI::App& order, ExitCode& exit_code, const char* name, const char* help,
                   const std::shared_ptr<VerbOptions>& options,
                   ExitCode (*run)(const VerbOptions&)) {
  CLI::App* verb = order.add_subcommand(name, help);
  verb->add_option("FILE", options->file, "Order file; '-' reads stdin")->required();
  verb->callback([=, &exit_code] {
    try {
      exit_code = run(*options);
    } catch (const BenchError& e) {
      fmt::print(stderr, "dlcp order {}: {}\n", name, e.what());
      exit_code = e.exit_code();
    }
  });
  return verb;
}

std::string formats_text() {
  std::string text = "Formats\n";
  for (const order::Format& format : order::formats())
    text += fmt::format("  {:<12} {}\n", format.name, format.help);
  return text +
         "\nThe c10d rendezvous of torchrun orders hosts by name and ignores any other order. "
         "Use\n--rdzv-backend=static with the output of format `torchrun`, or keep c10d and "
         "put\n`dlcp order exec FILE --` in front of the program (with --no-python).";
}

}  // namespace

void add_order_verbs(CLI::App& order, ExitCode& exit_code) {
  auto options = std::make_shared<VerbOptions>();
  CLI::App* writing =
      add_verb(order, exit_code, "write", "Prints an order in a launcher's format", options, write);
  std::vector<std::string> names;
  for (const order::Format& format : order::formats())
    names.emplace_back(format.name);
  add_choice(*writing, "FORMAT", names, options->format, fmt::format("{}", fmt::join(names, ", ")))
      ->required();
  writing->add_option("-o,--output", options->out, "Write to this file instead of stdout");
  writing->footer(formats_text());
  const auto add_host = [&](CLI::App& verb) {
    verb.add_option("--host", options->host,
                    "This host's name in the order; default: its host name or one of its "
                    "addresses");
  };
  add_host(*add_verb(order, exit_code, "rank", "Prints this host's node rank", options, rank));
  CLI::App* executing =
      add_verb(order, exit_code, "exec",
               "Runs a command with its rank variables changed to the order's", options, exec);
  add_host(*executing);
  executing->add_option("COMMAND", options->command, "Program and its arguments, after --")
      ->required();
  executing->footer(
      "Rewrites RANK, GROUP_RANK, NODE_RANK, SLURM_PROCID, SLURM_NODEID, OMPI_COMM_WORLD_RANK "
      "and\nPMI_RANK if they are set, and MASTER_ADDR; local ranks do not change. This works "
      "for programs\nthat read these variables. MPI itself keeps its ranks: give mpirun a "
      "rankfile.\nExit: the exit code of the command; 2 if it was not run.");
}

}  // namespace dlcp::cli
