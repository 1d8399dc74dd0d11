// `dlcp top`: `dlcp stats` as it changes. Drawn with a handful of control sequences that every
// terminal knows; where stdout is none it prints one table and ends.
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command_line/options.h"
#include "cli/commands.h"
#include "cli/stats/pages.h"
#include "cli/stats/top_view.h"
#include "util/fd.h"

namespace dlcp::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct TopOptions {
  Selection selection;
  double interval = 1;
  bool once = false;
  bool json = false;
};

// The alternate screen with keys unechoed, for as long as this lives. SIGINT and SIGTERM arrive as
// events, so that the terminal is given back whatever ends us.
class Screen {
 public:
  Screen() {
    tcgetattr(STDIN_FILENO, &before_);
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    sigset_t ends;
    sigemptyset(&ends);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
      sigaddset(&ends, signal);
    sigprocmask(SIG_BLOCK, &ends, nullptr);
    signals_ = Fd(signalfd(-1, &ends, SFD_CLOEXEC));
    fmt::print("\033[?1049h\033[?25l");
  }
  ~Screen() {
    fmt::print("\033[?25h\033[?1049l");
    std::fflush(stdout);
    tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  static winsize size() {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) size = {24, 80, 0, 0};
    return size;
  }
  void draw(const std::vector<std::string>& lines) const {
    std::string out = "\033[H";
    for (std::size_t i = 0; i < lines.size(); ++i)
      out += lines[i] + "\033[K" + (i + 1 < lines.size() ? "\r\n" : "");
    fmt::print("{}\033[J", out);
    std::fflush(stdout);
  }
  // A key; 'q' for a signal, 0 when the time is up.
  char wait(Clock::time_point until) const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd waits[] = {{STDIN_FILENO, POLLIN, 0}, {signals_.get(), POLLIN, 0}};
    if (poll(waits, 2, static_cast<int>(std::max<long>(left, 0))) <= 0) return 0;
    char key = 'q';
    if (waits[1].revents == 0 && read(STDIN_FILENO, &key, 1) != 1) key = 'q';
    return key;
  }

 private:
  termios before_{};
  Fd signals_;
};

// What can be read of the chosen processes now; what cannot is left out.
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
  sort_rows(rows, TopOrder::kSent);
  if (options.json) {
    fmt::print("{}\n", to_json(rows).dump(2));
  } else {
    for (const std::string& line : top_lines(rows, 80, 0))
      fmt::print("{}\n", line);
  }
  return ExitCode::kOk;
}

ExitCode run(const TopOptions& options) {
  if (options.once || options.json || isatty(STDOUT_FILENO) == 0 || isatty(STDIN_FILENO) == 0)
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
    const winsize size = Screen::size();
    const std::size_t width = std::min<std::size_t>(size.ws_col, 200);
    sort_rows(rows, order);
    std::vector<std::string> lines = {fmt::format("dlcp top {}  q quit  s sort ({})  p {}",
                                                  time_now(), name_of(order),
                                                  paths ? "processes" : "paths")
                                          .substr(0, width)};
    const std::size_t room = size.ws_row > 2 ? size.ws_row - 1u : 1;
    for (std::string& line : paths ? path_lines(last, width, room) : top_lines(rows, width, room))
      lines.push_back(std::move(line));
    screen.draw(lines);
    const char key = screen.wait(begin + interval);
    if (key == 'q') return ExitCode::kOk;
    if (key == 's')
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
  CLI::App* command = app.add_subcommand(
      "top",
      "The rates of running processes, as they change: q quits, s sorts by another column, p shows "
      "paths. In a pipe one table over one interval.");
  const auto options = std::make_shared<TopOptions>();
  command->add_option("--pid", options->selection.pids, "These processes only");
  command->add_option("--user", options->selection.user, "This user's processes only");
  add_time(*command, "--interval", options->interval, {0.2, 3600},
           "Between two looks (default 1 s; processes write five times a second)");
  command->add_flag("--once", options->once, "One table, on a terminal too");
  command->add_flag("--json", options->json, "One table as JSON");
  command->footer(
      "SENT and RECV are Gb/s of payload; RESENT is a share of SENT, LOST of what was received "
      "under a licence. P99 is of messages sent since the start. Exit: 0; 2 usage.");
  command->callback([&exit_code, options] { exit_code = run(*options); });
}

}  // namespace dlcp::cli
