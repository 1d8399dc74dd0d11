// A terminal as a screen to draw on, and its keys. Its state is restored however the program ends.
#pragma once

#include <termios.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "util/system/fd.h"

namespace dlcp::cli {

// Uses the alternate screen without echo while this object exists; stdin and stdout must be a
// terminal. SIGINT, SIGTERM and SIGHUP arrive as the key q. Ctrl-Z has no effect, because a stopped
// process would leave the shell on the alternate screen.
class Screen {
 public:
  struct Size {
    std::size_t height;
    std::size_t width;  // at most 200: a wider line is hard to follow
  };

  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  static Size size();
  // Draws at most as many lines as the height, each of at most the width.
  void draw(const std::vector<std::string>& lines) const;
  // A key; 0 after a timeout or a change of the terminal's size.
  char wait(std::chrono::steady_clock::time_point until) const;

 private:
  termios before_{};
  Fd signals_;
};

}  // namespace dlcp::cli
