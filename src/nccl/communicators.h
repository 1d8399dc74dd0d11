// The communicators of this process that have a context of their own, between the parts of the
// plugin that NCCL tells different things: the net plugin knows their budgets, the profiler which
// rank this is, the tuner how many there are. All name a communicator by NCCL's id, which several
// ranks in one process share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "nccl/context.h"

namespace dlcp::nccl {

class Communicators {
 public:
  // Never destroyed: NCCL's threads may outlive exit.
  static Communicators& of_process();

  void add(Context& context, std::uint32_t budget_ppm);
  void forget(const Context& context);

  std::optional<std::uint32_t> budget(std::uint64_t comm_id);
  // 0: not known.
  std::uint32_t ranks(const Context& context);

  // From the tuner. False if no context is that communicator's: it comes over another one's
  // connections, until not_shared().
  bool learn_ranks(std::uint64_t comm_id, std::size_t ranks);
  void not_shared() { --sharing_; }
  // Whether some connection may carry more than one communicator.
  bool shared() const { return sharing_.load(std::memory_order_relaxed) > 0; }

  // From the profiler, for those who look from outside.
  void learn_rank(std::uint64_t comm_id, int rank, int ranks);

 private:
  struct Entry {
    Context* context = nullptr;
    std::uint32_t budget_ppm = 0;
    std::uint32_t ranks = 0;  // 0: not known yet
  };

  std::mutex mutex_;
  std::map<core::ContextId, Entry> entries_;
  std::atomic<int> sharing_{0};  // communicators that have no context
};

}  // namespace dlcp::nccl
