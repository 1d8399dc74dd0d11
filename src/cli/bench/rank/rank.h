// One rank of a case, in a process of its own: loads the plugin, sets up the connections, runs the
// mode, closes everything, and sends its result.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/bench/cases/bench_case.h"
#include "cli/bench/rank/links.h"
#include "cli/data/payload.h"
#include "cli/data/reduce_data.h"
#include "cli/launch/clock.h"
#include "cli/measure/histogram.h"

namespace dlcp::cli {

struct RankResult {
  int rank = 0;
  std::string plugin_name;
  std::string plugin_path;
  int abi = 0;
  double seconds = 0;          // of the measured part
  double connect_seconds = 0;  // of the CollNet connect
  CpuTime cpu;                 // of this process in that time, without the checks
  std::uint64_t bytes = 0;     // payload received in that time
  std::uint64_t messages = 0;  // or iterations
  Mismatch wrong;
  Histogram times;
  ExitCode exit_code = ExitCode::kOk;
  std::string error;     // empty: none
  bool stopped = false;  // the error is only that another rank has failed
  nccl::ResultCode result = nccl::ResultCode::kSuccess;
  std::int64_t error_at_ns = 0;
  std::vector<ReduceLoss> losses;                // allreduce, --loss-budget: one per all-reduce
  std::map<std::string, std::int64_t> counters;  // from DLCP_STATS_FILE; empty if none
  // If several plugins run in turn: one result for each turn, in the order of the turns.
  std::vector<RankResult> turns;
  int plugin = 0;                 // of a turn: the plugin's number
  double turn_seconds = 0;        // of a turn, from begin to end
  double others_cpu_seconds = 0;  // CPU time of the other plugins' threads during the turn

  RankResult& operator+=(const RankResult& turn);
  std::string encode() const;  // as it goes to the coordinator
  static RankResult decode(const std::string& text);
};

// The objects that a mode works with; it fills in `result`.
struct Session {
  const BenchCase& bench_case;
  NetPlugin& net;
  Links& links;
  Control& control;
  RankResult& result;
  CollNetPlugin* collnet = nullptr;  // null unless by_collnet()
  NcclPart* nccl = nullptr;          // describes messages to the plugin; null: not described
};

void run_stream(Session& session);  // bw, incast, alltoall, abort
void run_latency(Session& session);
void run_plan(Session& session);
void run_all_reduce(Session& session);  // ring, allreduce

// Runs the case and sends the result through `control`; never throws. `stats_files`: for the
// counters of each plugin; "": not wanted.
RankResult run_rank(const BenchCase& bench_case, Control& control,
                    const std::vector<std::string>& stats_files);

}  // namespace dlcp::cli
