// One way to do all-reduces, driven a bounded step at a time.
#pragma once

#include <cstdint>

namespace dlcp::cli {

class AllReducer {
 public:
  virtual ~AllReducer() = default;

  // The next all-reduce begins; the one before is done.
  virtual void restart() = 0;
  virtual bool step(const void* input, void* output) = 0;  // false: nothing moved
  virtual bool done() const = 0;
  virtual std::uint64_t bytes_received() const = 0;  // since the beginning
  // Of what this rank received, since the beginning, by who is told that anything may be missing.
  virtual std::uint64_t contributions_lost() const { return 0; }
};

}  // namespace dlcp::cli
