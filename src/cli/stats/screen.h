// A terminal as a screen to draw on, and its keys; given back as it was, whatever ends us.
#pragma once

#include <termios.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "util/fd.h"

namespace dlcp::cli {

// The alternate screen with keys unechoed, for as long as this lives; stdin and stdout must be a
// terminal. SIGINT, SIGTERM and SIGHUP arrive as the key q; Ctrl-Z does nothing, since a stopped
// process would leave the screen to the shell.
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
  // Lines of at most the width, and at most the height of them.
  void draw(const std::vector<std::string>& lines) const;
  // A key; 0 when the time is up or the terminal has another size now.
  char wait(std::chrono::steady_clock::time_point until) const;

 private:
  termios before_{};
  Fd signals_;
};

}  // namespace dlcp::cli
