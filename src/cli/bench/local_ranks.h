// The rank processes that this process starts: forked before any thread exists, put into their
// namespaces and onto their CPUs, ended by their ids.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "cli/bench/bench_case.h"
#include "cli/bench/shared_area.h"

namespace dlcp::cli {

struct LocalRank {
  int rank = -1;
  pid_t pid = -1;
  int fd = -1;  // our end of its line; -1 when the rank speaks to a coordinator elsewhere
};

class LocalRanks {
 public:
  LocalRanks(const BenchCase& bench_case, SharedArea& shared);
  ~LocalRanks();  // kills what still runs
  LocalRanks(const LocalRanks&) = delete;
  LocalRanks& operator=(const LocalRanks&) = delete;

  // `line`: the rank's own line to the coordinator; -1 makes a socket pair, whose end is in the
  // result.
  LocalRank& start(int rank, int line = -1);
  void kill(int rank);
  void kill_all();
  // Reaps those that have ended; true when none is left.
  bool reap();
  // How a rank ended: "", "exit code 3", "signal 9 (Killed)".
  std::string ending(int rank) const;

 private:
  [[noreturn]] void become(int rank, int fd);

  const BenchCase& case_;
  SharedArea& shared_;
  std::string directory_;  // the plugins' counters
  std::vector<LocalRank> ranks_;
  std::vector<int> statuses_;  // by index into ranks_; -1 while it runs
};

}  // namespace dlcp::cli
