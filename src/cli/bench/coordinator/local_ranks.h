// The rank processes that this process starts, each in its namespace and, with --pin, on its CPU.
#pragma once

#include <map>
#include <string>

#include "cli/bench/cases/bench_case.h"
#include "cli/launch/processes/children.h"
#include "cli/launch/processes/shared_area.h"

namespace dlcp::cli {

class LocalRanks {
 public:
  // The destructor kills what still runs.
  LocalRanks(const BenchCase& bench_case, SharedArea& shared);
  LocalRanks(const LocalRanks&) = delete;
  LocalRanks& operator=(const LocalRanks&) = delete;

  // Returns this process's end of the connection to the new rank.
  int start(int rank);
  // `line`: the rank's connection to a coordinator in another process.
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
  Children children_;
  std::map<int, std::size_t> child_of_;  // by rank
  std::map<int, Fd> lines_;              // this process's ends, by rank
};

}  // namespace dlcp::cli
