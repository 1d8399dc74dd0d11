// Runs one case: starts this process's ranks, leads or follows the others, and makes the report.
#pragma once

#include <optional>
#include <vector>

#include "cli/bench/report.h"
#include "cli/launch/world.h"

namespace dlcp::cli {

class Runner {
 public:
  // Without a world all ranks are started here. With one, meets the other processes first.
  Runner(std::optional<World> world, const std::string& options, double timeout);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // The process that reports; the others only follow.
  bool leads() const { return !world_ || world_->rank == 0; }
  // Leads: the report. Follows: how this process's rank ended.
  Report lead(const BenchCase& bench_case);
  ExitCode follow(const BenchCase& bench_case);

 private:
  std::optional<World> world_;
  std::vector<int> remote_;  // lines to other machines' ranks, by rank; -1 for our own
  int line_ = -1;            // to rank 0, when we follow
};

}  // namespace dlcp::cli
