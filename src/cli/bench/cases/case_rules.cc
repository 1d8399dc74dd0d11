#include "cli/bench/cases/case_rules.h"

#include <fmt/format.h>

#include "cli/bench/modes/modes.h"
#include "cli/data/reduce_data.h"

namespace dlcp::cli {
namespace {

constexpr int kLocalRanksMax = 512;

}  // namespace

void refuse(const std::string& what) {
  throw BenchError(ExitCode::kUsage, what);
}

void check_ranks(const BenchCase& c, int world_size) {
  if (world_size > 0 && c.ranks != world_size)
    refuse(fmt::format("--ranks {} contradicts the job's {} processes; omit --ranks", c.ranks,
                       world_size));
  if (world_size == 0 && c.ranks > kLocalRanksMax)
    refuse(
        fmt::format("--ranks {}: at most {} processes can run on one machine; use a launcher "
                    "for more",
                    c.ranks, kLocalRanksMax));
  if (c.mode == Mode::kLatency && c.ranks != 2)
    refuse(fmt::format("--ranks {}: mode lat needs exactly 2 ranks", c.ranks));
  if (traits_of(c.mode).in_pairs && c.ranks % 2 != 0)
    refuse(fmt::format("--ranks {}: mode {} works in pairs of ranks; give an even number", c.ranks,
                       name_of(c.mode)));
  if (c.kill_rank >= c.ranks)
    refuse(
        fmt::format("--kill-rank {}: there is no such rank among {} ranks", c.kill_rank, c.ranks));
  if (c.kill_rank >= 0 && world_size > 0)
    refuse("--kill-rank kills a process of this machine; run the bench without a launcher");
}

void check_budget(const BenchCase& c) {
  const bool streams = c.mode == Mode::kBandwidth || c.mode == Mode::kIncast;
  const bool ring = c.mode == Mode::kAllReduce && c.algorithm == Algorithm::kRing;
  const bool direct = c.mode == Mode::kAllReduce &&
                      (c.algorithm == Algorithm::kDirect || c.algorithm == Algorithm::kHub);
  if (c.mode != Mode::kRing && !streams && !ring && !direct)
    refuse(
        "--loss-budget can be used only with modes ring, bw, incast, and allreduce with --algo "
        "ring, direct or hub");
  if (ring && (c.reduction.type != collective::DataType::kFloat32 ||
               c.reduction.op != collective::ReduceOp::kSum))
    refuse(
        fmt::format("--loss-budget: a ring reports missing contributions only for f32 sums, "
                    "not for {} {}",
                    name_of(c.reduction.type), name_of(c.reduction.op)));
  if (streams && (c.check || c.flags != LineFlags::kNone))
    refuse(
        "--loss-budget: lost data arrives as zeros, which the check would report; add "
        "--no-check, and omit --flags");
  if (c.abi != 0 && c.abi < 11)
    refuse(
        fmt::format("--abi {}: NCCL describes transfers, which --loss-budget needs, only from "
                    "version 11 on",
                    c.abi));
}

// Sums of most kinds of numbers depend on the order in which they are added.
void check_data(const BenchCase& c) {
  const bool sums = (c.mode == Mode::kRing || c.mode == Mode::kAllReduce) &&
                    c.reduction.type == collective::DataType::kFloat32 &&
                    c.reduction.op == collective::ReduceOp::kSum;
  if (c.data != Data::kAmp || !sums || c.ranks > ReduceData::kAmpRanksMax)
    refuse(
        fmt::format("--data {} can be used only with modes bw, lat, incast and alltoall; --data "
                    "amp also with ring and allreduce, for f32 sums of up to {} ranks",
                    name_of(c.data), ReduceData::kAmpRanksMax));
}

void check_size(const BenchCase& c) {
  const std::size_t element = c.reduction.element_bytes();
  if (c.mode == Mode::kAllReduce && (c.size == 0 || c.size % element != 0))
    refuse(fmt::format("--size {}: elements of --type {} have {} bytes; give a multiple", c.size,
                       name_of(c.reduction.type), element));
  if ((c.mode == Mode::kRing || c.mode == Mode::kPlan) && (c.size == 0 || c.size % 4 != 0))
    refuse(fmt::format("--size {}: mode {} transfers 4-byte floats; give a multiple of 4", c.size,
                       name_of(c.mode)));
  if (c.flags == LineFlags::kNone) return;
  if (c.mode != Mode::kBandwidth && c.mode != Mode::kIncast && c.mode != Mode::kAllToAll)
    refuse(fmt::format("--flags {} can be used only with modes bw, incast and alltoall",
                       name_of(c.flags)));
  const std::size_t line = line_bytes(c.flags);
  if (c.size == 0 || c.size % line != 0)
    refuse(fmt::format("--size {}: {} has lines of {} bytes; give a multiple", c.size,
                       name_of(c.flags), line));
}

void check_turns(const BenchCase& c) {
  const bool by_switch = c.mode == Mode::kAllReduce && c.algorithm == Algorithm::kSwitch;
  if (c.plugins.size() > 1 &&
      (c.mode == Mode::kAbort || by_switch || c.kill_rank >= 0 || c.each_finds_out))
    refuse(
        "several --plugin run in turn, which does not work with --mode abort, --algo switch, "
        "--kill-rank and --each-finds-out");
  if (c.plugins.size() == 1 && c.turns > 0)
    refuse("--turns needs at least two --plugin, which run in turn");
}

}  // namespace dlcp::cli
