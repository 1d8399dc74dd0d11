// The command line of `dlcp bench`, and what it comes to: cases that are ready to run.
#pragma once

#include <string>
#include <vector>

#include "cli/bench/bench_case.h"
#include "cli/bench/world.h"
#include "cli/command_line/options.h"

namespace dlcp::cli {

struct BenchOptions {
  BenchCase common;
  std::string mode = "bw";
  std::string sizes;
  std::string plan;  // a file
  std::string flags = "none";
  std::string idle = "auto";
  std::string algorithm = "unset";  // allreduce
  std::string type = "unset";
  std::string op = "unset";
  bool no_check = false;
  bool json = false;
  int ranks = -1;     // -1: the mode's default
  int channels = -1;  // -1: the mode's default
  int inflight = -1;  // -1: the mode's default
  WorldFlags world;

  // Checked against each other; throws BenchError(kUsage). `world_size` 0: all ranks are started
  // here.
  std::vector<BenchCase> cases(int world_size) const;
  // What must be the same in every process of a run, an option per line: "--seconds 2".
  std::string summary() const;
};

void add_options(CLI::App& bench, BenchOptions& options);

}  // namespace dlcp::cli
