// One case of `dlcp bench`: everything that a rank needs to run it. Made from the command line, and
// the same in every process of the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/data/payload.h"
#include "cli/driver/reduce.h"
#include "cli/launch/bench_error.h"
#include "cli/plugin/plugin_choice.h"
#include "cli/plugin/registrar.h"

namespace dlcp::synth {
class Schedule;
}

namespace dlcp::cli {

enum class Mode { kBandwidth, kLatency, kRing, kIncast, kAllToAll, kAbort, kPlan, kAllReduce };
inline constexpr std::size_t kModes = 8;
enum class Algorithm { kRing, kDirect, kPlan, kSwitch, kHub };
inline constexpr std::size_t kAlgorithms = 5;
// Whether the plugin does the whole all-reduce, through NCCL's CollNet interface.
constexpr bool by_collnet(Algorithm algorithm) {
  return algorithm != Algorithm::kRing;
}
enum class Idle { kAuto, kSpin, kYield, kSleep };
inline constexpr std::size_t kIdles = 4;

// The names on the command line.
const char* name_of(Mode mode);
const char* name_of(Idle idle);
const char* name_of(Algorithm algorithm);

struct BenchCase {
  std::vector<PluginChoice> plugins{1};  // one, or several that run in turn
  int turns = 0;  // rounds in which each plugin runs once; 0: one plugin, which runs once
  int abi = 0;    // version of the interface to NCCL; 0: the highest that the plugin exports
  Mode mode = Mode::kBandwidth;
  int ranks = 2;
  std::size_t size = std::size_t{1} << 20;  // bytes of a message; ring: of each rank's vector
  Algorithm algorithm = Algorithm::kRing;   // allreduce
  Reduction reduction;                      // allreduce
  std::string hubs;                         // allreduce by hubs: their addresses, for the plugin
  int own_hubs = 0;                         // ... or the number to start for it
  std::string plan_file;                    // allreduce by plan: for the plugin
  std::string switch_name;                  // allreduce by switch; empty: one of our own
  int inflight = 8;
  int channels = 1;
  int layers = 1;                // ring: number of all-reduces that share the vector
  std::uint64_t iterations = 0;  // 0: by time
  double seconds = 2;
  double warmup_seconds = 0.3;
  std::shared_ptr<const synth::Schedule> schedule;  // plan
  LineFlags flags = LineFlags::kNone;
  Data data = Data::kRandom;  // streams and lat
  bool check = true;
  bool canary = false;  // rings: watch receive buffers after their use
  std::uint64_t seed = 1;
  Idle idle = Idle::kAuto;
  bool pin = false;
  std::string netns;                    // prefix of network namespaces that the ranks run in
  std::vector<std::string> namespaces;  // by rank; empty without --netns
  bool device_by_rank = false;          // rank i's first connection uses the plugin's device i
  double loss = 0;
  double loss_budget = 0;  // share of each sum that the plugin may lose
  double timeout = 60;
  int kill_rank = -1;
  int kill_after_ms = 500;
  bool each_finds_out = false;  // do not end the other ranks when one fails
  bool one_host = true;         // all ranks share this machine: one clock, shared memory
};

// Reads a comma list of sizes in the notation of util/text/quantity.h, each at most NCCL's largest
// message. Throws BenchError(kUsage).
std::vector<std::size_t> parse_sizes(const std::string& text);
std::string format_size(std::size_t bytes);

}  // namespace dlcp::cli
