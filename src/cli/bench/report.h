// What a case came to, over all ranks: numbers, JSON object, table row.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/bench/rank.h"

namespace dlcp::cli {

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
