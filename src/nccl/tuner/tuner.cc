#include "nccl/tuner/tuner.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "engine/devices/registry.h"
#include "nccl/context/communicators.h"
#include "nccl/context/guard.h"
#include "nccl/loss/licensing.h"

namespace dlcp::nccl::tuner {
namespace {

// NCCL does not report how many channels it will use. Between hosts it uses two or more; with more,
// some of the messages steered here are too short for a licence.
constexpr std::size_t kChannels = 2;
constexpr std::size_t kMessagesPerChunk = 2;
constexpr std::size_t kMessageBytesMax = std::size_t{1} << 20;

constexpr std::size_t kRing = static_cast<std::size_t>(Algorithm::kRing);
constexpr std::size_t kSimple = static_cast<std::size_t>(Protocol::kSimple);

// Costs of direct exchange: two steps, each through NCCL's proxy; the messages to and from each
// further rank; and the share of a link's rate that many concurrent flows reach (bench_hub: of 12.5
// GB/s, 11 with 1 MiB and 7 with 4 MiB).
constexpr double kStepUs = 14;
constexpr double kPeerUs = 4;
constexpr double kRateShare = 0.6;
// How long a step waits for a repair, and how much is lost together: with 1% loss of 1 MiB, a ring
// of 16 ranks takes 1.42 ms longer, licensed direct exchange 0.25 ms (bench_direct_loss times).
constexpr double kRepairUs = 300;
constexpr double kPacketBytes = 4096;
// Size of a block: shorter blocks cost a message each and carry little; longer ones take longer to
// arrive before the addition starts (bench_hub).
constexpr std::size_t kBlockBytes = 16 << 10;
constexpr std::size_t kChunkBytesMax = 512 << 10;  // NCCL's buffer for a step
constexpr std::size_t kChunkUnit = 4 << 10;

// Used if the group of a communicator is unknown on some rank; the same on all ranks.
constexpr std::uint32_t kSpeedAssumed = 100'000;

struct Tuned {
  std::uint64_t comm_id = 0;  // 0: unknown
  // True if all ranks know the group of the communicator, or none does. NCCL connects a group in
  // one process of each node only, so with several ranks per node some processes may not know it.
  bool asks_for_group = false;
  DirectTerms assumed;
  bool shares = false;  // uses another communicator's connections
  std::optional<Steering> steering;
};

// nullopt: unknown on all ranks (before NCCL 2.28, with several ranks per node, or if the
// communicator shares another one's connections).
std::optional<DirectTerms> group_of(const Tuned& tuned) {
  return tuned.asks_for_group ? DirectGroups::of_process().find(tuned.comm_id) : std::nullopt;
}

// The group has DirectTerms::always with these settings if it can be set up at all.
bool always_direct(const engine::Settings& settings) {
  return settings.collnet == engine::CollnetChoice::kOn || !settings.plan_file.empty() ||
         !settings.collnet_switch.empty();
}

}  // namespace

std::size_t ring_message_bytes(std::size_t bytes, std::size_t ranks) {
  return std::min(bytes / kChannels / std::max<std::size_t>(ranks, 1) / kMessagesPerChunk,
                  kMessageBytesMax);
}

bool steer(const Steering& steering, Function function, std::size_t bytes, std::span<float> costs,
           std::size_t protocols) {
  const bool reduces = function == Function::kAllReduce || function == Function::kReduceScatter;
  const std::size_t ours = kRing * protocols + kSimple;
  if (!reduces || protocols <= kSimple || ours >= costs.size() || !(costs[ours] >= 0) ||
      steering.ranks < 2 || ring_message_bytes(bytes, steering.ranks) < steering.bytes_min)
    return false;
  float best = costs[ours];
  for (const float cost : costs)
    if (cost >= 0) best = std::min(best, cost);
  if (costs[ours] > best * (1 + steering.margin)) return false;
  costs[ours] = 0;
  return true;
}

double direct_us(const DirectTerms& terms, std::size_t bytes) {
  const double ranks = terms.ranks;
  const double all = static_cast<double>(bytes);
  const double moved =
      terms.hubs > 0 ? std::max(1.0, ranks / terms.hubs) * all : 2 * (ranks - 1) / ranks * all;
  const double bytes_per_us = terms.speed_mbps / 8.0 * kRateShare;
  return 2 * kStepUs + (ranks - 1) * kPeerUs + (bytes_per_us > 0 ? moved / bytes_per_us : moved);
}

double repairs_saved_us(const DirectTerms& terms, std::size_t bytes) {
  const auto waits = [&](double of_bytes) {
    return std::min(1.0, terms.loss_ppm / 1e6 * of_bytes / kPacketBytes);
  };
  const double ranks = std::max(terms.ranks, 1u);
  const auto all = static_cast<double>(bytes);
  const double ring = 2 * (ranks - 1) * waits(all / ranks);
  const double direct = waits(all);  // the results, which must not lose anything
  return kRepairUs * std::max(0.0, ring - direct);
}

std::size_t chunk_bytes(const DirectTerms& terms, std::size_t bytes, std::size_t channels,
                        std::size_t chunk) {
  const std::size_t owners = terms.hubs > 0 ? terms.hubs : terms.ranks;
  const std::size_t call = std::min(bytes, owners * kBlockBytes);
  const std::size_t each = (call + channels - 1) / std::max<std::size_t>(channels, 1);
  const std::size_t wanted = (each + kChunkUnit - 1) / kChunkUnit * kChunkUnit;
  return std::max(chunk, std::min(wanted, kChunkBytesMax));
}

void correct_collnet(const DirectTerms& terms, std::size_t bytes, std::span<float> costs,
                     std::size_t protocols) {
  if (protocols <= kSimple || terms.ranks < 2) return;
  // The chain comes first: its tensor lengths are known, and NCCL takes the first of equal costs.
  std::vector<float*> ours;
  for (const Algorithm algorithm :
       {Algorithm::kCollnetChain, Algorithm::kCollnetDirect, Algorithm::kNvls}) {
    const std::size_t at = static_cast<std::size_t>(algorithm) * protocols + kSimple;
    if (at < costs.size() && costs[at] >= 0) ours.push_back(&costs[at]);
  }
  if (ours.empty()) return;
  const double estimate =
      std::max(direct_us(terms, bytes) - repairs_saved_us(terms, bytes), kStepUs);
  for (float* const cost : ours)
    *cost = kNotAllowed;
  // Two ranks exchange as many steps and bytes in a ring.
  const bool has_others = std::ranges::any_of(costs, [](float cost) { return cost >= 0; });
  if (terms.always)
    *ours.front() = 0;
  else if (terms.ranks > 2 || !has_others)
    *ours.front() = static_cast<float>(estimate);
}

ResultCode init(void** context, std::uint64_t comm_id, std::size_t ranks, std::size_t nodes,
                DebugLogger logger) noexcept {
  *context = nullptr;
  guarded("tuner init", [&] {
    set_logger(logger);
    auto tuned = std::make_unique<Tuned>();
    tuned->comm_id = comm_id;
    tuned->asks_for_group = comm_id != 0 && ranks == nodes;
    tuned->shares = comm_id != 0 && !Communicators::of_process().learn_ranks(comm_id, ranks, nodes);
    const auto setup = engine::Registry::of_process().setup();
    tuned->assumed = {static_cast<std::uint32_t>(nodes), kSpeedAssumed,
                      setup->ok() && always_direct(setup->value().settings)};
    if (setup->ok()) {
      const engine::Settings& settings = setup->value().settings;
      if (budget_of(comm_id, settings.loss_budget_ppm) > 0)
        tuned->steering = Steering{ranks, settings.loss_bytes_min, settings.tuner_margin};
    }
    *context = tuned.release();
    return ResultCode::kSuccess;
  });
  return ResultCode::kSuccess;
}

ResultCode choose(void* context, int function, std::size_t bytes, float** costs, int algorithms,
                  int protocols) noexcept {
  const auto* tuned = static_cast<const Tuned*>(context);
  if (tuned != nullptr && costs != nullptr && algorithms > 0 && protocols > 0) {
    guarded(
        "tuner",
        [&] {
          const auto rows = static_cast<std::size_t>(algorithms);
          const auto columns = static_cast<std::size_t>(protocols);
          // The interface declares float** but passes a table.
          const std::span table(reinterpret_cast<float*>(costs), rows * columns);
          const bool known = function >= 0 && function <= static_cast<int>(Function::kAllReduce);
          const auto named = known ? static_cast<Function>(function) : Function::kOther;
          if (named == Function::kAllReduce)
            correct_collnet(group_of(*tuned).value_or(tuned->assumed), bytes, table, columns);
          if (tuned->steering) steer(*tuned->steering, named, bytes, table, columns);
          return ResultCode::kSuccess;
        });
  }
  return ResultCode::kSuccess;
}

// If the group is unknown, NCCL's chunk size is kept.
ResultCode choose_chunk(void* context, int function, std::size_t bytes, int algorithm, int channels,
                        std::size_t* chunk) noexcept {
  const auto* tuned = static_cast<const Tuned*>(context);
  const bool ours = function == static_cast<int>(Function::kAllReduce) &&
                    algorithm == static_cast<int>(Algorithm::kCollnetChain);
  if (tuned != nullptr && ours && channels > 0 && chunk != nullptr) {
    guarded(
        "tuner",
        [&] {
          if (const auto group = group_of(*tuned))
            *chunk = chunk_bytes(*group, bytes, static_cast<std::size_t>(channels), *chunk);
          return ResultCode::kSuccess;
        });
  }
  return ResultCode::kSuccess;
}

ResultCode finalize(void* context) noexcept {
  guarded("tuner finalize", [&] {
    const std::unique_ptr<Tuned> tuned(static_cast<Tuned*>(context));
    if (tuned != nullptr && tuned->shares) Communicators::of_process().not_shared();
    return ResultCode::kSuccess;
  });
  return ResultCode::kSuccess;
}

}  // namespace dlcp::nccl::tuner
