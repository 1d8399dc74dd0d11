#include "cli/stats/top/screen.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace dlcp::cli {

Screen::Screen() {
  tcgetattr(STDIN_FILENO, &before_);
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VSUSP] = _POSIX_VDISABLE;
  tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  sigset_t events;
  sigemptyset(&events);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGWINCH})
    sigaddset(&events, signal);
  sigprocmask(SIG_BLOCK, &events, nullptr);
  signals_ = Fd(signalfd(-1, &events, SFD_CLOEXEC));
  fmt::print("\033[?1049h\033[?25l");
}

Screen::~Screen() {
  fmt::print("\033[?25h\033[?1049l");
  std::fflush(stdout);
  tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

Screen::Size Screen::size() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) size = {24, 80, 0, 0};
  return {size.ws_row, std::min<std::size_t>(size.ws_col, 200)};
}

// Clears a line before writing it: after a line of full width the cursor is still on its last
// column, and clearing from there would erase the last character.
void Screen::draw(const std::vector<std::string>& lines) const {
  std::string out = "\033[H";
  for (std::size_t i = 0; i < lines.size(); ++i)
    out += "\033[2K" + lines[i] + (i + 1 < lines.size() ? "\r\n" : "");
  if (lines.size() < size().height) out += "\r\n\033[J";
  fmt::print("{}", out);
  std::fflush(stdout);
}

char Screen::wait(std::chrono::steady_clock::time_point until) const {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now())
          .count();
  pollfd waits[] = {{STDIN_FILENO, POLLIN, 0}, {signals_.get(), POLLIN, 0}};
  if (poll(waits, 2, static_cast<int>(std::max<long>(left, 0))) <= 0) return 0;
  if (waits[1].revents != 0) {
    signalfd_siginfo event{};
    const bool known = read(signals_.get(), &event, sizeof event) == sizeof event;
    return known && event.ssi_signo == SIGWINCH ? 0 : 'q';
  }
  char key = 'q';
  return read(STDIN_FILENO, &key, 1) == 1 ? key : 'q';
}

}  // namespace dlcp::cli
