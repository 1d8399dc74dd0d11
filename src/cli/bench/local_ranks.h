// The rank processes that this process starts, put into their namespaces and onto their CPUs.
#pragma once

#include <map>
#include <string>

#include "cli/bench/bench_case.h"
#include "cli/bench/shared_area.h"
#include "cli/launch/children.h"

namespace dlcp::cli {

class LocalRanks {
 public:
  LocalRanks(const BenchCase& bench_case, SharedArea& shared);
  ~LocalRanks();  // kills what still runs
  LocalRanks(const LocalRanks&) = delete;
  LocalRanks& operator=(const LocalRanks&) = delete;

  // Our end of the new rank's line to us.
  int start(int rank);
  // `line`: the rank's own, to a coordinator elsewhere.
  void start(int rank, int line);
  void kill(int rank);
  void kill_all() { children_.kill_all(); }
  // Reaps those that have ended; true when none is left.
  bool reap() { return children_.reap(); }
  // As Children::ending(); "" for a rank that was not started here.
  std::string ending(int rank) const;

 private:
  int run(int rank, int line);

  const BenchCase& case_;
  SharedArea& shared_;
  std::string directory_;  // the plugins' counters
  Children children_;
  std::map<int, std::size_t> child_of_;  // by rank
  std::map<int, Fd> lines_;              // our ends, by rank
};

}  // namespace dlcp::cli
