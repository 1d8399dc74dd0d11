// `dlcp top`: `dlcp stats`, updated periodically. It uses a few control sequences that every
// terminal supports; if stdout is not a terminal, it prints one table and exits.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command_line/options/options.h"
#include "cli/command_line/output/json_text.h"
#include "cli/command_line/terminal.h"
#include "cli/commands.h"
#include "cli/stats/pages/pages.h"
#include "cli/stats/selection_options.h"
#include "cli/stats/top/screen.h"
#include "cli/stats/top/top_view.h"

namespace dlcp::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct TopOptions {
  Selection selection;
  double interval = 1;
  bool once = false;
  bool json = false;
};

struct Look {
  std::vector<ProcessSnapshot> processes;
  std::vector<std::string> problems;  // a line each: processes that cannot be read in full
};

Result<Look> look(const Selection& selection, bool paths) {
  auto pages = open_pages(selection);
  if (!pages) return pages.error();
  if (paths)
    for (Page& page : pages->found)
      page.view.ask_for_paths();
  Look seen{read_all(pages.value()), {}};
  seen.problems = std::move(pages->problems);
  return seen;
}

std::string time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[16];
  return std::string(text, std::strftime(text, sizeof text, "%H:%M:%S", &local));
}

ExitCode fail(const Error& error, ExitCode code) {
  fmt::print(stderr, "dlcp top: {}\n", error.message());
  return code;
}

ExitCode print_once(const TopOptions& options) {
  auto before = look(options.selection, false);
  if (!before) return fail(before.error(), ExitCode::kUsage);
  const auto begin = Clock::now();
  const auto pause = std::chrono::duration<double>(options.interval);
  poll(nullptr, 0, static_cast<int>(pause.count() * 1000));
  auto after = look(options.selection, false);
  if (!after) return fail(after.error(), ExitCode::kUsage);
  auto rows = top_rows(before->processes, after->processes, Clock::now() - begin);
  const auto& problems = after->problems;
  for (const std::string& line : problems)
    fmt::print(stderr, "dlcp top: {}\n", line);
  sort_rows(rows, TopOrder::kSent);
  if (options.json)
    fmt::print("{}\n", json_text(to_json(rows), 2));
  else if (!rows.empty() || problems.empty())
    for (const std::string& line : top_lines(rows, 80, 0))
      fmt::print("{}\n", line);
  return problems.empty() ? ExitCode::kOk : ExitCode::kTransport;
}

ExitCode run(const TopOptions& options) {
  if (options.once || options.json || !can_draw(STDOUT_FILENO) || isatty(STDIN_FILENO) == 0)
    return print_once(options);
  auto before = look(options.selection, false);
  if (!before) return fail(before.error(), ExitCode::kUsage);
  const Screen screen;
  const auto interval =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.interval));
  TopOrder order = TopOrder::kSent;
  bool paths = false;
  Look last = std::move(before).value();
  std::vector<TopRow> rows = top_rows(last.processes, last.processes, {});
  for (Clock::time_point begin = Clock::now();;) {
    const auto [height, width] = Screen::size();
    sort_rows(rows, order);
    const std::string keys =
        paths ? "p processes" : fmt::format("s sort ({})  p paths", name_of(order));
    std::vector<std::string> lines = {
        fmt::format("dlcp top {}  q quit  {}", time_now(), keys).substr(0, width)};
    if (!last.problems.empty() && height > 2)
      lines.push_back(last.problems.front().substr(0, width));
    const std::size_t room = std::max<std::size_t>(height, lines.size() + 1) - lines.size();
    if (!rows.empty() || last.problems.empty())
      std::ranges::move(
          paths ? path_lines(last.processes, width, room) : top_lines(rows, width, room),
          std::back_inserter(lines));
    screen.draw(lines);
    const char key = screen.wait(begin + interval);
    if (key == 'q') return ExitCode::kOk;
    if (key == 's' && !paths)
      order = static_cast<TopOrder>((static_cast<std::size_t>(order) + 1) % kTopOrders);
    if (key == 'p') paths = !paths;
    if (Clock::now() < begin + interval) continue;
    auto after = look(options.selection, paths);
    if (!after) return fail(after.error(), ExitCode::kUsage);
    const auto now = Clock::now();
    rows = top_rows(last.processes, after->processes, now - begin);
    last = std::move(after).value();
    begin = now;
  }
}

}  // namespace

void add_top(CLI::App& app, ExitCode& exit_code) {
  CLI::App& command = add_verb(
      app, "top",
      "Shows the rates of running processes: q quits, s sorts by another column, p shows paths. "
      "In a pipe it prints one table for one interval.");
  const auto options = std::make_shared<TopOptions>();
  add_selection(command, options->selection);
  add_time(command, "--interval", options->interval, {0.2, 3600},
           "Time between updates (default 1 s; processes publish their counters five times a "
           "second)");
  add_flag(command, "--once", options->once, "Print one table and exit, even on a terminal");
  add_flag(command, "--json", options->json, "Print one table as JSON");
  complete(
      command,
      "SENT and RECV are Gb/s of payload. RESENT is a share of SENT; LOST is a share of the "
      "bytes received under a licence. P99 covers the messages sent since the start. Exit: 0; 2 "
      "usage error; 3 one table, and a process could not be read in full.",
      [&exit_code, options] { exit_code = run(*options); });
}

}  // namespace dlcp::cli
