// Runs cases: starts this process's ranks, and either supervises all ranks and makes the report, or
// leaves that to the process of rank 0.
#pragma once

#include <optional>
#include <vector>

#include "cli/bench/report.h"
#include "cli/launch/rendezvous/frames.h"
#include "cli/launch/rendezvous/world.h"

namespace dlcp::cli {

class Runner {
 public:
  // Without a world this process starts all ranks. With one, waits for the other processes first.
  Runner(std::optional<World> world, const std::string& options, double timeout);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Whether this process makes the report.
  bool leads() const { return !world_ || world_->rank == 0; }
  // lead() returns a report for each plugin; follow() returns how this process's rank ended.
  std::vector<Report> lead(const BenchCase& bench_case);
  ExitCode follow(const BenchCase& bench_case);

 private:
  std::optional<World> world_;
  // Connections to the ranks, by rank. Those to ranks of other processes serve all cases: such a
  // rank's first frame of a case may arrive together with its last one of the case before.
  std::vector<FrameReader> lines_;
  int line_ = -1;  // connection to rank 0, where another process leads
};

}  // namespace dlcp::cli
