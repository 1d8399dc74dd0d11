// One line on stderr that is rewritten while something takes its time, and gone afterwards. Where
// stderr is no terminal, a line every half minute instead, so that a job's log says what it waits
// for.
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

  // Cheap to call often: draws five times a second at most.
  void show(const std::string& text);

 private:
  bool terminal_;
  bool drawn_ = false;
  std::int64_t next_ns_;
};

}  // namespace dlcp::cli
