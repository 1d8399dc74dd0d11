// A progress line on stderr that is rewritten during long work and erased afterwards. If stderr is
// not a terminal, it prints a line every half minute instead, so that a job's log shows the
// progress.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace dlcp::cli {

class MovingLine {
 public:
  MovingLine();
  ~MovingLine();
  MovingLine(const MovingLine&) = delete;
  MovingLine& operator=(const MovingLine&) = delete;

  // Cheap to call often: draws at most five times a second.
  void show(const std::string& text);

 private:
  bool terminal_;
  bool drawn_ = false;
  std::int64_t next_ns_;
};

}  // namespace dlcp::cli
