#include "nccl/tuner.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "engine/registry.h"
#include "nccl/communicators.h"
#include "nccl/guard.h"
#include "nccl/licensing.h"

namespace dlcp::nccl::tuner {
namespace {

// NCCL does not say how many channels it will use. Between hosts it has two at least; where it has
// more, some of what is steered here turns out too short for a licence.
constexpr std::size_t kChannels = 2;
constexpr std::size_t kMessagesPerChunk = 2;
constexpr std::size_t kMessageBytesMax = std::size_t{1} << 20;

constexpr std::size_t kRing = static_cast<std::size_t>(Algorithm::kRing);
constexpr std::size_t kSimple = static_cast<std::size_t>(Protocol::kSimple);

struct Tuned {
  bool shares = false;  // another communicator's connections
  std::optional<Steering> steering;
};

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
      steering.ranks < 2 || ring_message_bytes(bytes, steering.ranks) < steering.bytes_min) {
    return false;
  }
  float best = costs[ours];
  for (const float cost : costs) {
    if (cost >= 0) {
      best = std::min(best, cost);
    }
  }
  if (costs[ours] > best * (1 + steering.margin)) {
    return false;
  }
  costs[ours] = 0;
  return true;
}

ResultCode init(void** context, std::uint64_t comm_id, std::size_t ranks,
                DebugLogger logger) noexcept {
  *context = nullptr;
  guarded("tuner init", [&] {
    set_logger(logger);
    auto tuned = std::make_unique<Tuned>();
    tuned->shares = comm_id != 0 && !Communicators::of_process().learn_ranks(comm_id, ranks);
    const auto setup = engine::Registry::of_process().setup();
    if (setup->ok() && budget_of(comm_id) > 0) {
      const engine::Settings& settings = setup->value().settings;
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
  if (tuned != nullptr && tuned->steering && costs != nullptr && algorithms > 0 && protocols > 0) {
    guarded("tuner", [&] {
      const auto rows = static_cast<std::size_t>(algorithms);
      const auto columns = static_cast<std::size_t>(protocols);
      // The interface says float**, and means a table.
      const std::span table(reinterpret_cast<float*>(costs), rows * columns);
      const bool known = function >= 0 && function <= static_cast<int>(Function::kAllReduce);
      steer(*tuned->steering, known ? static_cast<Function>(function) : Function::kOther, bytes,
            table, columns);
      return ResultCode::kSuccess;
    });
  }
  return ResultCode::kSuccess;
}

ResultCode finalize(void* context) noexcept {
  guarded("tuner finalize", [&] {
    const std::unique_ptr<Tuned> tuned(static_cast<Tuned*>(context));
    if (tuned != nullptr && tuned->shares) {
      Communicators::of_process().not_shared();
    }
    return ResultCode::kSuccess;
  });
  return ResultCode::kSuccess;
}

}  // namespace dlcp::nccl::tuner
