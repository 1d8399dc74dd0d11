// Ranks as forked processes, and the memory they share. The parent never opens the plugin, so that
// its children can open it.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <vector>

#include "nccl/plugin.h"

namespace dlcp::test {

struct Board {
  static constexpr int kRanksMax = 8;

  Handle handles[kRanksMax][2];
  std::atomic<int> arrived;
  std::atomic<int> numbers[kRanksMax];

  // Waits, at most 30 s, until `count` ranks have called it.
  void meet(int count);
};

// Listens, waits for the other ranks, connects to the next rank and accepts the previous one. False
// on failure.
bool join_ring(const NetV12& net, Rank& self, Board& board, int rank, int ranks, Link& link);

class Processes {
 public:
  // Runs rank(i) in one process per rank; its return value is the exit status.
  Processes(int count, const std::function<int(Board& board, int rank)>& rank);
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  Board& board() { return *board_; }
  void kill_rank(int rank);
  // Exit status of a rank; 1000 + signal if one ended it; -1 if it does not end within `limit`.
  int wait_for(int rank, std::chrono::milliseconds limit = std::chrono::seconds(30));

 private:
  Board* board_;
  std::vector<pid_t> children_;
};

}  // namespace dlcp::test
