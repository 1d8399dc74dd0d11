// `dlcp top`: `dlcp stats`, updated periodically. It uses a few control sequences that every
// terminal supports; if stdout is not a terminal, it prints one table and exits.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
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

// A snapshot of the selected processes; unreadable ones are left out.
Result<std::vector<ProcessSnapshot>> look(const Selection& selection, bool paths) {
  auto pages = open_pages(selection);
  if (!pages) return pages.error();
  std::vector<ProcessSnapshot> processes;
  for (Page& page : pages->found) {
    if (paths) page.view.ask_for_paths();
    if (auto snapshot = page.read()) processes.push_back(std::move(snapshot).value());
  }
  return processes;
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
  const auto before = look(options.selection, false);
  if (!before) return fail(before.error(), ExitCode::kUsage);
  const auto begin = Clock::now();
  const auto pause = std::chrono::duration<double>(options.interval);
  poll(nullptr, 0, static_cast<int>(pause.count() * 1000));
  const auto after = look(options.selection, false);
  if (!after) return fail(after.error(), ExitCode::kUsage);
  auto rows = top_rows(before.value(), after.value(), Clock::now() - begin);
  const auto missing = missing_rows(after.value());
  for (const std::string& line : missing)
    fmt::print(stderr, "dlcp top: {}\n", line);
  sort_rows(rows, TopOrder::kSent);
  if (options.json)
    fmt::print("{}\n", json_text(to_json(rows), 2));
  else
    for (const std::string& line : top_lines(rows, 80, 0))
      fmt::print("{}\n", line);
  return missing.empty() ? ExitCode::kOk : ExitCode::kTransport;
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
  std::vector<TopRow> rows = top_rows(before.value(), before.value(), {});
  std::vector<ProcessSnapshot> last = before.value();
  for (Clock::time_point begin = Clock::now();;) {
    const auto [height, width] = Screen::size();
    sort_rows(rows, order);
    const std::string keys =
        paths ? "p processes" : fmt::format("s sort ({})  p paths", name_of(order));
    std::vector<std::string> lines = {
        fmt::format("dlcp top {}  q quit  {}", time_now(), keys).substr(0, width)};
    if (const auto missing = missing_rows(last); !missing.empty() && height > 2)
      lines.push_back(missing.front().substr(0, width));
    const std::size_t room = std::max<std::size_t>(height, lines.size() + 1) - lines.size();
    for (std::string& line : paths ? path_lines(last, width, room) : top_lines(rows, width, room))
      lines.push_back(std::move(line));
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
    rows = top_rows(last, after.value(), now - begin);
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
      "usage error; 3 one table, without some of a process's lanes or communicators.",
      [&exit_code, options] { exit_code = run(*options); });
}

}  // namespace dlcp::cli
