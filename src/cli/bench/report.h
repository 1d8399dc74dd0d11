// What a case came to, over all ranks: numbers, JSON object, table row.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/bench/rank.h"

namespace dlcp::cli {

// Of all ranks together.
struct LossReport {
  double relative_mse = 0;         // squared error over squared exact sums, all all-reduces
  double delivered_share_min = 1;  // of the contributions to one all-reduce's result
  double delivered_share = 1;      // of all
  bool ranks_identical = true;
  std::uint64_t lossy_reduces = 0;  // all-reduces with anything missing
  std::uint64_t reduces = 0;
  // In results of all-reduces that nothing is missing from; direct: unexplained.
  std::uint64_t wrong_elements = 0;
};

// `by_rank`: each rank's all-reduces, in order. `direct`: all ranks count what is lost of the
// result, instead of each what it has lost on its way. `rounds`: what is not the exact sum is wrong
// only where it is unexplained.
LossReport make_loss_report(const std::vector<std::vector<ReduceLoss>>& by_rank,
                            std::size_t elements, bool direct = false, bool rounds = false);

struct Report {
  BenchCase bench_case;
  std::string plugin_name;
  std::string plugin_path;
  int abi = 0;
  double bus_gbps = 0;            // as NCCL's tests define it for the mode
  double reduce_gbyte_per_s = 0;  // all-reduces: a vector over the mean time of one
  double connect_seconds = 0;     // of the rank whose CollNet connect took longest
  double aggregate_gbps = 0;      // everything that crossed the network
  double seconds = 0;
  std::uint64_t bytes = 0;
  std::uint64_t messages = 0;
  double cpu_s_per_gib = 0;
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
  std::optional<std::uint64_t> switch_sums;  // packets that our own switch has added up
  bool killed = false;                       // a rank was killed on purpose
  std::vector<RankEnd> rank_ends;            // by rank

  nlohmann::json to_json() const;
};

Report make_report(const BenchCase& bench_case, const std::vector<RankResult>& results,
                   std::int64_t killed_at_ns);

std::string table_header();
std::string table_row(const Report& report);

}  // namespace dlcp::cli
