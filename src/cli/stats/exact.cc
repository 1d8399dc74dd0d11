// `dlcp exact`: the only command that changes running processes. It lists them before it does so.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command_line/output/document.h"
#include "cli/command_line/output/json_text.h"
#include "cli/command_line/terminal.h"
#include "cli/commands.h"
#include "cli/stats/pages/pages.h"
#include "cli/stats/selection_options.h"
#include "util/text/printable.h"

namespace dlcp::cli {
namespace {

struct ExactOptions {
  Selection selection;
  bool all = false;
  bool yes = false;
  bool dry_run = false;
  bool undo = false;
  bool json = false;

  bool selects() const {
    return all || !selection.pids.empty() || !selection.user.empty() ||
           !selection.communicator.empty();
  }
};

std::string may_lose(const Page& page) {
  if (page.view.head().exact.load() != 0) return "nothing: made exact";
  const auto snapshot = page.read();
  if (!snapshot) return "unknown: it runs another version";
  std::uint32_t most = 0;
  for (const auto& row : snapshot.value().communicators)
    most = std::max(most, row.budget_ppm);
  return most == 0 ? "nothing" : fmt::format("{:g}% of sums", most / 1e4);
}

std::string communicators(const Page& page) {
  const auto snapshot = page.read();
  std::vector<std::string> names;
  if (snapshot) {
    for (const auto& row : snapshot.value().communicators) {
      std::string name = fmt::format("{:016x}", row.communicator);
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
  }
  return fmt::format("{}", fmt::join(names, " "));
}

Document list(const std::vector<Page>& pages) {
  Document document{{"pid", "user", "command", "may lose", "communicators"}, {}};
  for (const Page& page : pages)
    document.rows.push_back({std::to_string(page.pid()), user_name(page.place.user),
                             printable(page.view.head().command.view()), may_lose(page),
                             communicators(page)});
  return document;
}

ExitCode refuse(const std::string& what) {
  fmt::print(stderr, "dlcp exact: {}\n", what);
  return ExitCode::kUsage;
}

bool agrees(std::size_t count) {
  fmt::print("{} process{}: go on? [y/N] ", count, count == 1 ? "" : "es");
  std::fflush(stdout);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

// nullopt if the change may be made.
std::optional<ExitCode> confirm(const ExactOptions& options, std::size_t count) {
  if (options.dry_run) return ExitCode::kOk;
  if (!options.selects())
    return refuse(
        "nothing was changed; choose processes with --pid, --user or --communicator, or use "
        "--all");
  if (!options.all || options.yes) return std::nullopt;
  if (isatty(STDIN_FILENO) == 0)
    return refuse("nothing was changed; without a terminal, --all needs --yes");
  if (!agrees(count)) return refuse("nothing was changed");
  return std::nullopt;
}

void print_list(const ExactOptions& options, const std::vector<Page>& pages, bool changed) {
  const Document document = list(pages);
  if (!options.json) {
    fmt::print("{}", document.to_text(output_width()));
    return;
  }
  const nlohmann::ordered_json json = {{"changed", changed},
                                       {"exact", changed ? !options.undo : false},
                                       {"processes", document.to_json()}};
  fmt::print("{}\n", json_text(json, 2));
}

ExitCode exact(const ExactOptions& options) {
  auto pages = open_pages(options.selection);
  if (!pages) return refuse(pages.error().message());
  const bool selects_user =
      !options.selection.user.empty() && options.selection.communicator.empty();
  if (options.all || selects_user) {
    auto others = without_page(options.selection.user);
    if (!others) return refuse(others.error().message());
    std::ranges::move(others.value(), std::back_inserter(pages->problems));
  }
  for (const std::string& problem : pages->problems)
    fmt::print(stderr, "dlcp exact: {}\n", problem);
  const bool complete = pages->problems.empty();
  if (pages->found.empty()) {
    if (complete)
      fmt::print(stderr,
                 "dlcp exact: no matching process uses the plugin; only root sees the processes "
                 "of other users\n");
    return options.selects() || options.dry_run ? ExitCode::kTransport
                                                : refuse(
                                                      "choose processes with --pid, --user or "
                                                      "--communicator, or use --all");
  }
  if (!options.json) print_list(options, pages->found, false);
  if (const auto end = confirm(options, pages->found.size())) {
    if (options.json) print_list(options, pages->found, false);
    return *end == ExitCode::kOk && !complete ? ExitCode::kTransport : *end;
  }
  for (Page& page : pages->found)
    page.view.make_exact(!options.undo);
  if (options.json) {
    print_list(options, pages->found, true);
  } else {
    const bool one = pages->found.size() == 1;
    fmt::print("{} process{} {}\n", pages->found.size(), one ? "" : "es",
               options.undo ? "may lose data within the licence again"
               : one        ? "accepts no loss from now on"
                            : "accept no loss from now on");
  }
  return complete ? ExitCode::kOk : ExitCode::kTransport;
}

}  // namespace

void add_exact(CLI::App& app, ExitCode& exit_code) {
  CLI::App& command = add_verb(
      app, "exact",
      "Makes running jobs exact at once: the chosen processes of this host accept no further "
      "loss, even if they have a licence. Peers need not agree. The command first lists the "
      "processes; without a choice it only lists them. It works with every version of the "
      "plugin.");
  const auto options = std::make_shared<ExactOptions>();
  auto* all = add_flag(command, "--all", options->all,
                       "All processes of this host that this user may change; asks for "
                       "confirmation");
  for (CLI::Option* chosen : add_selection(command, options->selection))
    exclude_each_other(chosen, all);
  auto* communicator =
      add_text(command, "--communicator", options->selection.communicator,
               "Processes that use this communicator; the first digits of its number are enough");
  exclude_each_other(communicator, all);
  add_flag(command, "--yes", options->yes, "Do not ask for confirmation");
  add_flag(command, "--dry-run", options->dry_run,
           "List the processes that would change, and change nothing");
  add_flag(command, "--undo", options->undo, "Let the processes use their licences again");
  add_flag(command, "--json", options->json, "Print the list as JSON");
  complete(command,
           "Exit: 0; 2 usage error, or no process chosen; 3 no process found, or one could not "
           "be reached.",
           [&exit_code, options] { exit_code = exact(*options); });
}

}  // namespace dlcp::cli
