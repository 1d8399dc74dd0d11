// The command line of `dlcp bench`, and what it comes to: cases that are ready to run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/bench/bench_case.h"
#include "cli/command_line/options.h"
#include "cli/launch/world.h"
#include "synth/plan_file.h"

namespace dlcp::cli {

struct BenchOptions {
  BenchCase common;
  std::string mode = "bw";
  std::string sizes;
  std::string plan;  // a file
  std::string flags = "none";
  std::string data = "random";
  std::string idle = "auto";
  std::string algorithm = "unset";  // allreduce
  std::string hubs;                 // a number, or places
  std::string switch_name;          // allreduce by switch; empty: one of our own
  std::string type = "unset";
  std::string op = "unset";
  bool no_check = false;
  bool json = false;
  int ranks = -1;     // -1: the mode's default
  int channels = -1;  // -1: the mode's default
  int inflight = -1;  // -1: the mode's default
  WorldFlags world;

  // What --plan names; nothing for modes that have none. Throws BenchError(kUsage).
  std::optional<synth::Plan> read_plan() const;
  // Checked against each other; throws BenchError(kUsage). `world_size` 0: all ranks are started
  // here. `planned`: what read_plan() gave.
  std::vector<BenchCase> cases(int world_size, const std::optional<synth::Plan>& planned) const;
  // What must be the same in every process of a run, an option per line: "--seconds 2".
  std::string summary(const std::optional<synth::Plan>& planned) const;
};

void add_options(CLI::App& bench, BenchOptions& options);

}  // namespace dlcp::cli
