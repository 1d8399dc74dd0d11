// Child processes of this one, which end with it at the latest. Start them before any thread.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "util/system/fd.h"

namespace dlcp::cli {

// A connected pair of stream sockets. Throws BenchError.
std::pair<Fd, Fd> socket_pair();

class Children {
 public:
  Children() = default;
  Children(Children&&) = default;
  Children& operator=(Children&&) = delete;
  ~Children() { kill_all(); }

  // Runs `run` in a new process, which exits with its return value. Returns the child's number,
  // from 0 on. Throws BenchError.
  std::size_t start(const std::function<int()>& run);
  void kill(std::size_t child);
  void kill_all();
  void wait_all();
  // Reaps children that have ended; returns true when none is left.
  bool reap();
  // How a child ended: "exit code 3", "signal 9 (Killed)"; "" while it runs.
  std::string ending(std::size_t child) const;

 private:
  struct Child {
    pid_t pid;
    int status;  // -1 while it runs
  };
  std::vector<Child> children_;
};

}  // namespace dlcp::cli
