// `dlcp stats`: the activity of running processes, printed once.
#include <fmt/format.h>

#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "cli/command_line/text_file.h"
#include "cli/commands.h"
#include "cli/stats/output/formats.h"
#include "cli/stats/pages/pages.h"
#include "cli/stats/selection_options.h"
#include "util/system/host_name.h"

namespace dlcp::cli {
namespace {

struct StatsOptions {
  Selection selection;
  bool paths = false;
  bool json = false;
  bool prometheus = false;
  std::string textfile;
};

ExitCode fail(const Error& error, ExitCode code) {
  fmt::print(stderr, "dlcp stats: {}\n", error.message());
  return code;
}

void wait_for_paths(std::vector<Page>& pages) {
  for (Page& page : pages)
    page.view.ask_for_paths();
  const timespec pause{0, 500'000'000};  // processes write a few times a second
  nanosleep(&pause, nullptr);
}

ExitCode stats(const StatsOptions& options) {
  auto pages = open_pages(options.selection);
  if (!pages) return fail(pages.error(), ExitCode::kUsage);
  if (options.paths) wait_for_paths(pages->found);
  const std::vector<ProcessSnapshot> processes = read_all(pages.value());
  const std::vector<std::string>& problems = pages->problems;
  for (const std::string& problem : problems)
    fmt::print(stderr, "dlcp stats: {}\n", problem);
  // Writes metrics even if no job runs, so that the absence of jobs does not look like an outage.
  if (options.prometheus || !options.textfile.empty()) {
    const std::string text = to_prometheus(processes, host_name());
    if (options.textfile.empty())
      fmt::print("{}", text);
    else if (const auto written = write_text_file(options.textfile, text); !written)
      return fail(written.error(), ExitCode::kUsage);
    return problems.empty() ? ExitCode::kOk : ExitCode::kTransport;
  }
  if (processes.empty() && problems.empty())
    fail({ErrorCode::kSystem, "no running process uses the plugin",
          "only root sees the processes of other users"},
         ExitCode::kTransport);
  fmt::print("{}", options.json    ? to_json(processes)
                   : options.paths ? to_path_table(processes)
                                   : to_table(processes));
  return problems.empty() && !processes.empty() ? ExitCode::kOk : ExitCode::kTransport;
}

}  // namespace

void add_stats(CLI::App& app, ExitCode& exit_code) {
  CLI::App& command = add_verb(
      app, "stats",
      "Shows what running processes of this host do through the plugin: for each communicator, "
      "bytes, losses within the budget, retransmissions, message times, and the reason why it "
      "is exact.");
  const auto options = std::make_shared<StatsOptions>();
  add_selection(command, options->selection);
  auto* paths = add_flag(command, "--paths", options->paths,
                         "Show loss and delay of every path, with its ports (takes half a second)");
  auto* json = add_flag(command, "--json", options->json, "Print JSON");
  auto* prometheus =
      add_flag(command, "--prometheus", options->prometheus, "Print Prometheus text");
  auto* textfile = add_text(command, "--textfile", options->textfile,
                            "Write the Prometheus text to this file atomically, for the node "
                            "exporter's textfile collector");
  exclude_each_other(prometheus, json);
  exclude_each_other(paths, prometheus);
  exclude_each_other(paths, textfile);
  exclude_each_other(textfile, json);
  exclude_each_other(textfile, prometheus);
  complete(command,
           "Exit: 0; 2 usage error; 3 no process found, or one could not be read in full. With "
           "--prometheus or --textfile, finding no process is not an error.",
           [&exit_code, options] { exit_code = stats(*options); });
}

}  // namespace dlcp::cli
