// One case of `dlcp bench`: everything that a rank must know to run it. Filled from the command
// line, the same in every process of the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cli/bench/reduce.h"
#include "cli/exit_code.h"
#include "nccl/abi/types.h"
#include "util/result.h"

namespace dlcp::synth {
class Schedule;
}

namespace dlcp::cli {

enum class Mode { kBandwidth, kLatency, kRing, kIncast, kAllToAll, kAbort, kPlan, kAllReduce };
enum class Algorithm { kRing, kDirect, kPlan, kSwitch, kHub };
// Whether the plugin reduces, through NCCL's CollNet interface.
constexpr bool by_collnet(Algorithm algorithm) {
  return algorithm != Algorithm::kRing;
}
enum class LineFlags { kNone, kLl, kLl128 };
enum class Idle { kAuto, kSpin, kYield, kSleep };

const char* name_of(Mode mode);
const char* name_of(LineFlags flags);
const char* name_of(Algorithm algorithm);

struct BenchCase {
  std::string plugin;  // path or name, as NCCL_NET_PLUGIN takes it; empty: ours
  int abi = 0;         // version of the interface to NCCL; 0: the highest that the plugin exports
  Mode mode = Mode::kBandwidth;
  int ranks = 2;
  std::size_t size = std::size_t{1} << 20;  // bytes of a message; ring: of each rank's vector
  Algorithm algorithm = Algorithm::kRing;   // allreduce
  Reduction reduction;                      // allreduce
  std::string hubs;                         // allreduce by hubs: for the plugin
  int own_hubs = 0;                         // ... or so many that are started for it
  std::string plan_file;                    // allreduce by plan: for the plugin
  std::string switch_name;                  // allreduce by switch; empty: one of our own
  int inflight = 8;
  int channels = 1;
  int layers = 1;                // ring: all-reduces, one after the other, that share the vector
  std::uint64_t iterations = 0;  // 0: by time
  double seconds = 2;
  double warmup_seconds = 0.3;
  std::shared_ptr<const synth::Schedule> schedule;  // plan: what to run, the same on all ranks
  LineFlags flags = LineFlags::kNone;
  bool check = true;
  std::uint64_t seed = 1;
  Idle idle = Idle::kAuto;
  bool pin = false;
  std::string netns;                    // prefix of network namespaces that the ranks run in
  std::vector<std::string> namespaces;  // where there is one: by rank
  bool device_by_rank = false;          // rank i's first connection uses the plugin's device i
  double loss = 0;
  double loss_budget = 0;  // share of each sum that the plugin may lose
  double timeout = 60;
  int kill_rank = -1;
  int kill_after_ms = 500;
  bool each_finds_out = false;  // ranks are not ended because another has failed
  bool one_host = true;         // all ranks share this machine: one clock, shared memory
};

// Ends a rank's run; caught once, in run_rank.
class BenchError : public std::runtime_error {
 public:
  BenchError(ExitCode exit_code, const std::string& what,
             nccl::ResultCode result = nccl::ResultCode::kSuccess)
      : std::runtime_error(what), exit_code_(exit_code), result_(result) {}
  ExitCode exit_code() const { return exit_code_; }
  nccl::ResultCode result() const { return result_; }

 private:
  ExitCode exit_code_;
  nccl::ResultCode result_;
};

// What the user has given, or named, is wrong.
template <class T>
T value_or_throw(Result<T> result) {
  if (!result) throw BenchError(ExitCode::kUsage, result.error().message());
  return std::move(result).value();
}

// Throws unless `code` is success; `call` is the plugin's function.
void require(nccl::ResultCode code, const char* call);
const char* name_of(nccl::ResultCode code);

// A comma list of sizes as util/quantity.h reads them, each at most what one NCCL message may have.
// Throws BenchError(kUsage).
std::vector<std::size_t> parse_sizes(const std::string& text);
std::string format_size(std::size_t bytes);

}  // namespace dlcp::cli
