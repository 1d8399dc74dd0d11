// Processes that this one starts, before it has any thread, and ends by their ids. They do not
// outlive it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "util/fd.h"

namespace dlcp::cli {

// Two ends of a line. Throws BenchError.
std::pair<Fd, Fd> socket_pair();

class Children {
 public:
  Children() = default;
  Children(Children&&) = default;
  Children& operator=(Children&&) = delete;
  ~Children() { kill_all(); }

  // Runs `run` in a new process that exits with what it returns. Throws BenchError. The children
  // are numbered from 0.
  std::size_t start(const std::function<int()>& run);
  void kill(std::size_t child);
  void kill_all();
  void wait_all();
  // Reaps those that have ended; true when none is left.
  bool reap();
  // How a child ended: "", "exit code 3", "signal 9 (Killed)".
  std::string ending(std::size_t child) const;

 private:
  struct Child {
    pid_t pid;
    int status;  // -1 while it runs
  };
  std::vector<Child> children_;
};

}  // namespace dlcp::cli
