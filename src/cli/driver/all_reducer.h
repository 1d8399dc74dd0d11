// One way to do all-reduces, driven in bounded steps.
#pragma once

#include <cstdint>

namespace dlcp::cli {

class AllReducer {
 public:
  virtual ~AllReducer() = default;

  // Starts the next all-reduce; the previous one is done.
  virtual void restart() = 0;
  virtual bool step(const void* input, void* output) = 0;  // false: nothing moved
  virtual bool done() const = 0;
  virtual std::uint64_t bytes_received() const = 0;  // since the beginning
  // Contributions missing from what this rank received, since the beginning.
  virtual std::uint64_t contributions_lost() const { return 0; }
  // Bytes of receive buffers that changed after their use, if a canary watches them. Only between
  // two all-reduces.
  virtual std::uint64_t bytes_overwritten() { return 0; }
};

}  // namespace dlcp::cli
