// The command line of `dlcp bench`, and the cases that it asks for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/bench/cases/bench_case.h"
#include "cli/command_line/options/options.h"
#include "cli/launch/rendezvous/world.h"
#include "synth/plan/plan_file.h"

namespace dlcp::cli {

struct BenchOptions {
  BenchCase common;
  std::vector<std::string> plugins;  // as given; empty: DLCP's
  std::string sizes;
  std::string plan;         // a file
  std::string hubs;         // a number, or places
  std::string switch_name;  // allreduce by switch; empty: one of our own
  std::optional<Algorithm> algorithm;
  std::optional<collective::DataType> type;
  std::optional<collective::ReduceOp> op;
  bool no_check = false;
  bool json = false;
  int turns = -1;       // -1: the default, as for the next two
  double seconds = -1;  // measured
  double warmup_seconds = -1;
  int ranks = -1;     // -1: the mode's default
  int channels = -1;  // -1: the mode's default
  int inflight = -1;  // -1: the mode's default
  WorldFlags world;

  // The plan that --plan names, or nullopt for modes without a plan. Throws BenchError(kUsage).
  std::optional<synth::Plan> read_plan() const;
  // One case per size. `world_size`: number of processes that a launcher started, 0 if this process
  // starts all ranks. `planned`: from read_plan(). Throws BenchError(kUsage) where options
  // contradict each other.
  std::vector<BenchCase> cases(int world_size, const std::optional<synth::Plan>& planned) const;
  // The options that must be the same in every process of a run, one per line: "--seconds 2".
  std::string summary(const std::optional<synth::Plan>& planned) const;
};

void add_options(CLI::App& bench, BenchOptions& options);

}  // namespace dlcp::cli
