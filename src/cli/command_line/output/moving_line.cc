#include "cli/command_line/output/moving_line.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "cli/command_line/terminal.h"

namespace dlcp::cli {
namespace {

constexpr std::int64_t kDrawEveryNs = 200'000'000;
constexpr std::int64_t kLogEveryNs = 30'000'000'000;
constexpr std::int64_t kFirstLogNs = 10'000'000'000;

std::int64_t clock_ns() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

std::size_t columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1u : 79;
}

}  // namespace

MovingLine::MovingLine()
    : terminal_(can_draw(STDERR_FILENO)),
      next_ns_(clock_ns() + (terminal_ ? kDrawEveryNs : kFirstLogNs)) {}

MovingLine::~MovingLine() {
  if (drawn_ && terminal_) fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}

void MovingLine::show(const std::string& text) {
  const std::int64_t now = clock_ns();
  if (now < next_ns_) return;
  next_ns_ = now + (terminal_ ? kDrawEveryNs : kLogEveryNs);
  drawn_ = true;
  if (terminal_)
    fmt::print(stderr, "\r\033[K{}", text.substr(0, columns()));
  else
    fmt::print(stderr, "dlcp: {}\n", text);
  std::fflush(stderr);
}

}  // namespace dlcp::cli
