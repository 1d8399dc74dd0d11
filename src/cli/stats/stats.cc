// `dlcp stats` and `dlcp exact`: looking into running processes, and the one thing that can be
// asked of them.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/stats/snapshot.h"

namespace dlcp::cli {
namespace {

struct Wanted {
  std::vector<int> pids;  // empty: all
  bool all = false;

  bool has(int pid) const {
    return pids.empty() || std::find(pids.begin(), pids.end(), pid) != pids.end();
  }
};

struct Opened {
  int pid = 0;
  engine::LiveView view;
};

// Says on stderr which pages cannot be read.
std::vector<Opened> open_pages(const Wanted& wanted, bool& refused) {
  std::vector<Opened> opened;
  for (const engine::LivePlace& place : engine::find_live_pages()) {
    if (!wanted.has(place.pid)) continue;
    auto view = engine::open_live_page(place.path, DLCP_VERSION);
    if (!view) {
      fmt::print(stderr, "dlcp: process {}: {}\n", place.pid, view.error().message());
      refused = true;
      continue;
    }
    opened.push_back({place.pid, std::move(view).value()});
  }
  for (const int pid : wanted.pids) {
    const auto is_it = [pid](const Opened& page) { return page.pid == pid; };
    if (std::none_of(opened.begin(), opened.end(), is_it) && !refused) {
      fmt::print(stderr, "dlcp: process {} does not use the plugin, or is another user's\n", pid);
      refused = true;
    }
  }
  return opened;
}

ExitCode nothing_found() {
  fmt::print(stderr,
             "dlcp: no running process uses the plugin, or only those of other users do (try as "
             "root)\n");
  return ExitCode::kTransport;
}

void pause_ms(long ms) {
  const timespec pause{ms / 1000, ms % 1000 * 1'000'000};
  nanosleep(&pause, nullptr);
}

struct StatsOptions {
  Wanted wanted;
  bool paths = false;
  bool json = false;
  bool prometheus = false;
};

ExitCode stats(const StatsOptions& options) {
  bool refused = false;
  std::vector<Opened> opened = open_pages(options.wanted, refused);
  if (opened.empty()) return refused ? ExitCode::kTransport : nothing_found();
  if (options.paths) {
    for (Opened& page : opened)
      page.view.ask_for_paths();
    pause_ms(500);  // processes write a few times a second
  }
  std::vector<ProcessSnapshot> processes;
  for (const Opened& page : opened)
    processes.push_back(read_snapshot(page.pid, page.view.page()));
  const auto text = options.json         ? to_json(processes)
                    : options.prometheus ? to_prometheus(processes)
                    : options.paths      ? to_path_table(processes)
                                         : to_table(processes);
  fmt::print("{}", text);
  return refused ? ExitCode::kTransport : ExitCode::kOk;
}

ExitCode make_exact(const Wanted& wanted) {
  if (!wanted.all && wanted.pids.empty()) {
    fmt::print(stderr, "dlcp exact: name processes with --pid, or all with --all\n");
    return ExitCode::kUsage;
  }
  bool refused = false;
  std::vector<Opened> opened = open_pages(wanted, refused);
  if (opened.empty()) return refused ? ExitCode::kTransport : nothing_found();
  for (Opened& page : opened) {
    page.view.make_exact();
    fmt::print("{} {} loses nothing from now on\n", page.pid, page.view.page().command.view());
  }
  return refused ? ExitCode::kTransport : ExitCode::kOk;
}

}  // namespace

void add_stats(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command = app.add_subcommand(
      "stats",
      "What running processes of this host do through the plugin: per communicator, bytes, losses\n"
      "within the budget, retransmissions, message times, and why it is exact.\n"
      "Exit: 0; 3 when no process was found or one could not be read.");
  const auto options = std::make_shared<StatsOptions>();
  command->add_option("--pid", options->wanted.pids, "These processes only");
  command->add_flag("--paths", options->paths,
                    "Loss and delay of every path, with its ports (takes half a second)");
  auto* json = command->add_flag("--json", options->json, "As JSON");
  command->add_flag("--prometheus", options->prometheus, "As Prometheus text")->excludes(json);
  command->callback([&exit_code, options] { exit_code = stats(*options); });
}

void add_exact(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command = app.add_subcommand(
      "exact",
      "Makes running jobs exact at once, until they end: their processes on this host accept no\n"
      "loss any more, whatever was licensed. Peers need not agree.\n"
      "Exit: 0; 3 when no process was found or one could not be reached.");
  const auto wanted = std::make_shared<Wanted>();
  auto* all = command->add_flag("--all", wanted->all, "Every process of this host that is ours");
  command->add_option("--pid", wanted->pids, "These processes only")->excludes(all);
  command->callback([&exit_code, wanted] { exit_code = make_exact(*wanted); });
}

}  // namespace dlcp::cli
