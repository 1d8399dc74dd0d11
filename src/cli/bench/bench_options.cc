#include "cli/bench/bench_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "dlcp/communicator_class.h"

namespace dlcp::cli {
namespace {

const std::map<std::string, Mode> kModes = {
    {"bw", Mode::kBandwidth},  {"lat", Mode::kLatency},       {"ring", Mode::kRing},
    {"incast", Mode::kIncast}, {"alltoall", Mode::kAllToAll}, {"abort", Mode::kAbort}};
const std::map<std::string, LineFlags> kFlags = {
    {"none", LineFlags::kNone}, {"ll", LineFlags::kLl}, {"ll128", LineFlags::kLl128}};
const std::map<std::string, Idle> kIdle = {
    {"auto", Idle::kAuto}, {"spin", Idle::kSpin}, {"yield", Idle::kYield}};

template <class T>
T choose(const std::map<std::string, T>& values, const std::string& text, const char* option) {
  const auto found = values.find(text);
  if (found != values.end()) return found->second;
  std::string all;
  for (const auto& [name, value] : values)
    all += (all.empty() ? "" : ", ") + name;
  throw BenchError(ExitCode::kUsage, fmt::format("{}: '{}' is none of {}", option, text, all));
}

[[noreturn]] void refuse(const std::string& what) {
  throw BenchError(ExitCode::kUsage, what);
}

bool needs_pairs(Mode mode) {
  return mode == Mode::kBandwidth || mode == Mode::kLatency || mode == Mode::kAbort;
}

void check_ranks(const BenchCase& c, int world_size) {
  if (world_size > 0 && c.ranks != world_size)
    refuse(fmt::format("--ranks {} in a job of {} processes; leave it out", c.ranks, world_size));
  if (c.ranks < 2) refuse(fmt::format("--ranks {}: at least 2", c.ranks));
  if (c.mode == Mode::kLatency && c.ranks != 2)
    refuse(fmt::format("--ranks {}: lat is between 2 ranks", c.ranks));
  if (needs_pairs(c.mode) && c.ranks % 2 != 0)
    refuse(fmt::format("--ranks {}: {} works in pairs, give an even number", c.ranks,
                       name_of(c.mode)));
  if (c.kill_rank >= c.ranks)
    refuse(fmt::format("--kill-rank {} does not exist among {} ranks", c.kill_rank, c.ranks));
  if (c.kill_rank >= 0 && world_size > 0)
    refuse("--kill-rank kills a process of this machine; leave the launcher out");
}

void check_numbers(const BenchCase& c) {
  if (c.abi != 0 && (c.abi < 6 || c.abi > 12)) refuse(fmt::format("--abi {}: 6 to 12", c.abi));
  if (c.inflight < 1 || c.inflight > 256)
    refuse(fmt::format("--inflight {}: 1 to 256", c.inflight));
  if (c.channels < 1 || c.channels > 64) refuse(fmt::format("--channels {}: 1 to 64", c.channels));
  if (c.layers < 1 || c.layers > 16) refuse(fmt::format("--layers {}: 1 to 16", c.layers));
  if (c.layers > 1 && c.mode != Mode::kRing) refuse("--layers goes with ring");
  if (!(c.seconds > 0)) refuse(fmt::format("--seconds {}: more than 0", c.seconds));
  if (!(c.timeout > 0)) refuse(fmt::format("--timeout {}: more than 0", c.timeout));
  if (c.warmup_seconds < 0) refuse(fmt::format("--warmup {}: not negative", c.warmup_seconds));
  if (c.kill_after_ms < 0) refuse(fmt::format("--kill-after-ms {}: not negative", c.kill_after_ms));
}

void check_budget(const BenchCase& c) {
  constexpr double kMost = CommunicatorClass::kBudgetPpmMax / 1e6;
  const bool streams = c.mode == Mode::kBandwidth || c.mode == Mode::kIncast;
  if (c.mode != Mode::kRing && !streams) refuse("--loss-budget goes with ring, bw and incast");
  if (streams && (c.check || c.flags != LineFlags::kNone))
    refuse("--loss-budget: what is lost arrives as zeros; add --no-check, and no --flags");
  if (c.loss_budget > kMost)
    refuse(fmt::format("--loss-budget {}: at most {}", c.loss_budget, kMost));
  if (c.abi != 0 && c.abi < 11)
    refuse(fmt::format("--abi {}: NCCL says what a transfer is from 11 on", c.abi));
}

void check_size(const BenchCase& c) {
  if (c.mode == Mode::kRing && (c.size == 0 || c.size % 4 != 0))
    refuse(fmt::format("--size {}: a ring reduces floats, give a multiple of 4", c.size));
  if (c.flags == LineFlags::kNone) return;
  if (c.mode != Mode::kBandwidth && c.mode != Mode::kIncast && c.mode != Mode::kAllToAll)
    refuse(fmt::format("--flags {} goes with bw, incast and alltoall", name_of(c.flags)));
  const std::size_t line = c.flags == LineFlags::kLl ? 16 : 128;
  if (c.size == 0 || c.size % line != 0)
    refuse(fmt::format("--size {}: {} has lines of {} bytes, give a multiple", c.size,
                       name_of(c.flags), line));
}

}  // namespace

std::vector<BenchCase> BenchOptions::cases(int world_size) const {
  BenchCase c = common;
  c.mode = choose(kModes, mode, "--mode");
  c.flags = choose(kFlags, flags, "--flags");
  c.idle = choose(kIdle, idle, "--idle");
  c.loss = parse_fraction(loss);
  c.loss_budget = parse_fraction(loss_budget);
  c.check = !no_check;
  c.one_host = world_size == 0;
  c.ranks = ranks >= 0 ? ranks : world_size != 0 ? world_size : needs_pairs(c.mode) ? 2 : 4;
  c.inflight = inflight >= 0 ? inflight : c.mode == Mode::kAbort ? 32 : 8;
  if (c.mode == Mode::kRing) c.inflight = 4;
  if (c.loss_budget > 0) check_budget(c);
  check_ranks(c, world_size);
  check_numbers(c);
  if (!c.one_host && !c.netns.empty()) refuse("--netns is for ranks of one machine");
  std::vector<BenchCase> all;
  const std::string fallback = c.mode == Mode::kRing      ? "16M"
                               : c.mode == Mode::kLatency ? "64"
                                                          : "1M";
  for (const std::size_t size : parse_sizes(sizes.empty() ? fallback : sizes)) {
    c.size = size;
    c.iterations = common.iterations;
    // Readers of flagged lines learn of nothing but lines: the number is agreed beforehand.
    if (c.flags != LineFlags::kNone && c.iterations == 0)
      c.iterations =
          std::clamp<std::uint64_t>((64u << 20) / std::max<std::size_t>(size, 1), 100, 20000);
    check_size(c);
    all.push_back(c);
  }
  return all;
}

std::string BenchOptions::summary() const {
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}", mode, sizes, flags, ranks, inflight,
                     common.channels, common.layers, common.iterations, common.seconds, common.seed,
                     no_check, loss_budget);
}

namespace {

void add_what_runs(CLI::App& bench, BenchOptions& o) {
  const std::string what = "What runs";
  BenchCase& c = o.common;
  bench
      .add_option("--plugin", c.plugin,
                  "Path, or X for libnccl-net-X.so, as NCCL_NET_PLUGIN takes it; default: ours")
      ->envname("NCCL_NET_PLUGIN")
      ->group(what);
  bench
      .add_option("--abi", c.abi,
                  "Version of NCCL's net interface to use, 6 to 12 (default: the highest)")
      ->group(what);
  bench.add_option("--mode", o.mode, "bw, lat, ring, incast, alltoall or abort (default bw)")
      ->group(what);
  bench.add_option("--ranks", o.ranks, "Processes (default 2; ring, incast, alltoall 4)")
      ->group(what);
  bench
      .add_option("--size", o.sizes,
                  "Message size, ring: vector size; 64, 4K, 1M or a comma list "
                  "(default 1M, lat 64, ring 16M)")
      ->group(what);
  bench
      .add_option("--inflight", o.inflight,
                  "Requests under way per connection (default 8, abort 32; ring always 4)")
      ->group(what);
  bench.add_option("--channels", c.channels, "Connections per pair of ranks (default 1)")
      ->group(what);
  bench
      .add_option("--layers", c.layers,
                  "ring: reduces the vector as a training step does, in so many parts of different "
                  "size, one after the other (default 1)")
      ->group(what);
  bench
      .add_option("--flags", o.flags,
                  "none, ll or ll128: NCCL's flagged lines, read by threads while they arrive")
      ->group(what);
  bench
      .add_option("--loss", o.loss,
                  "Share of packets to lose, 0.01 or 1%: inside our plugin (DLCP_FAULT); with "
                  "--netns the network does it and this is a label")
      ->group(what);
  bench
      .add_option("--loss-budget", o.loss_budget,
                  "Share of each sum that may be lost, 0.01 or 1%: bench plays NCCL's part for a "
                  "communicator with that trafficClass; ring also reports what is missing")
      ->group(what);
}

void add_how_it_runs(CLI::App& bench, BenchOptions& o) {
  const std::string how = "How it runs";
  BenchCase& c = o.common;
  bench.add_option("--seconds", c.seconds, "Measured time (default 2)")->group(how);
  bench
      .add_option("--iterations", c.iterations,
                  "Messages per connection, round trips or all-reduces, instead of --seconds")
      ->group(how);
  bench.add_option("--warmup", c.warmup_seconds, "Seconds before measuring (default 0.3)")
      ->group(how);
  bench.add_option("--seed", c.seed, "Of the payloads and of injected faults (default 1)")
      ->group(how);
  bench
      .add_option("--timeout", c.timeout,
                  "Seconds without any progress until all ranks are ended (default 60: more than "
                  "DLCP_PEER_TIMEOUT)")
      ->group(how);
  bench
      .add_option("--idle", o.idle,
                  "When nothing moves: spin, yield (as NCCL does), or auto: spin if every rank "
                  "has a core (default)")
      ->group(how);
  bench.add_flag("--pin", c.pin, "One core per rank, in turn")->group(how);
  bench.add_flag("--no-check", o.no_check, "Do not compare what arrives")->group(how);
  bench
      .add_option("--kill-rank", c.kill_rank, "SIGKILL this rank; every other must report an error")
      ->group(how);
  bench
      .add_option("--kill-after-ms", c.kill_after_ms,
                  "... this long after the connections stand (default 500)")
      ->group(how);
  bench
      .add_flag("--each-finds-out", c.each_finds_out,
                "Do not end the other ranks when one fails: each must notice by itself")
      ->group(how);
  bench.add_flag("--json", o.json, "One JSON object, or an array for several sizes")->group(how);
}

void add_where_it_runs(CLI::App& bench, BenchOptions& o) {
  const std::string where = "Where it runs";
  BenchCase& c = o.common;
  bench.add_option("--netns", c.netns, "Rank i runs inside network namespace PREFIXi")
      ->group(where);
  bench
      .add_flag("--device-by-rank", c.device_by_rank,
                "Rank i begins with the plugin's device i, as hosts in one machine; default: all "
                "with the first")
      ->group(where);
  bench.add_option("--rank", o.world.rank, "This process's rank, when others start the rest")
      ->group(where);
  bench
      .add_option("--world", o.world.size,
                  "... of so many; default: from Slurm, Open MPI, torchrun")
      ->group(where);
  bench
      .add_option("--rendezvous", o.world.rendezvous,
                  "HOST:PORT where rank 0 waits; default: MASTER_ADDR:MASTER_PORT, Slurm's launch "
                  "node")
      ->group(where);
}

}  // namespace

void add_options(CLI::App& bench, BenchOptions& o) {
  add_what_runs(bench, o);
  add_how_it_runs(bench, o);
  add_where_it_runs(bench, o);
}

}  // namespace dlcp::cli
