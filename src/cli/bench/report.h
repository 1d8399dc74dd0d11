// The result of a case over all ranks: numbers, JSON object, table row.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/bench/rank/rank.h"
#include "cli/measure/quartiles.h"

namespace dlcp::cli {

// Losses within the budget, over all ranks.
struct LossReport {
  double relative_mse = 0;         // squared error over squared exact sums, over all all-reduces
  double delivered_share_min = 1;  // share of one all-reduce's contributions, the smallest
  double delivered_share = 1;      // the same, over all all-reduces
  bool ranks_identical = true;
  std::uint64_t lossy_reduces = 0;  // all-reduces with anything missing
  std::uint64_t reduces = 0;
  // In all-reduces where nothing is missing: elements that differ from the sum. In the others:
  // elements that missing contributions do not explain.
  std::uint64_t wrong_elements = 0;
};

// `by_rank`: each rank's all-reduces, in order. `direct`: each rank counts all that is missing from
// the result, so the ranks' counts are equal; otherwise a rank counts what it lost on arrival and
// the counts add up. `rounds`: results may differ from the exact sum by rounding.
LossReport make_loss_report(const std::vector<std::vector<ReduceLoss>>& by_rank,
                            std::size_t elements, bool direct = false, bool rounds = false);

// Additional results of plugins that run in turn.
struct Turns {
  std::string settings;  // of this plugin alone
  // One value for each turn, and the ratios of each round's value to the first plugin's; by the
  // names of the report's JSON.
  std::map<std::string, std::vector<double>> values;
  std::map<std::string, Quartiles> ratios;
  // CPU time of the idle plugins' threads in this plugin's turns, as a share of one core; the sum
  // of all ranks.
  double others_cpu_share = 0;
};

struct Report {
  BenchCase bench_case;
  std::string plugin_name;
  std::string plugin_path;
  int abi = 0;
  double bus_gbps = 0;            // as NCCL's tests define it for the mode
  double reduce_gbyte_per_s = 0;  // all-reduces: vector size over the mean time
  double connect_seconds = 0;     // the longest CollNet connect of any rank
  double aggregate_gbps = 0;      // of all ranks together
  double seconds = 0;
  std::uint64_t bytes = 0;
  std::uint64_t messages = 0;
  double cpu_s_per_gib = 0;
  double kernel_s_per_gib = 0;  // part of cpu_s_per_gib
  Mismatch wrong;
  Histogram times;
  std::string error;
  ExitCode exit_code = ExitCode::kOk;
  std::map<std::string, std::int64_t>
      counters;  // summed over ranks; empty if the plugin wrote none
  struct RankEnd {
    nccl::ResultCode code;
    std::optional<double> time_to_error_ms;
  };
  std::optional<LossReport> losses;          // --loss-budget
  std::optional<std::uint64_t> switch_sums;  // sums of the switch that bench started
  bool killed = false;                       // a rank was killed on purpose
  std::vector<RankEnd> rank_ends;            // by rank
  std::optional<Turns> turns;

  nlohmann::json to_json() const;
};

Report make_report(const BenchCase& bench_case, const std::vector<RankResult>& results,
                   std::int64_t killed_at_ns);

std::string table_header();
std::string table_row(const Report& report);

}  // namespace dlcp::cli
