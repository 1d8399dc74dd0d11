// The communicators of this process that have a context of their own. It connects the parts of the
// plugin, which get different information from NCCL: the net plugin knows budgets, the profiler the
// rank, the tuner the number of ranks. All identify a communicator by NCCL's ID, which several
// ranks in one process share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "nccl/context/context.h"

namespace dlcp::nccl {

class Communicators {
 public:
  // Never destroyed, because NCCL's threads may outlive exit().
  static Communicators& of_process();

  void add(Context& context, std::uint32_t budget_ppm);
  void forget(const Context& context);

  std::optional<std::uint32_t> budget(std::uint64_t comm_id);
  // 0: unknown.
  std::uint32_t ranks(const Context& context);

  // Called by the tuner. False if the communicator has no context: it then uses another one's
  // connections, until not_shared().
  bool learn_ranks(std::uint64_t comm_id, std::size_t ranks, std::size_t nodes);
  void not_shared() { --sharing_; }
  // True if a connection may carry more than one communicator: one has no context, or one of
  // several hosts has not used its context and may use another one's connections (NCCL 2.28.3).
  bool shared();

  // Called by the profiler, for monitoring. False if the communicator has no context.
  bool learn_rank(std::uint64_t comm_id, int rank, int ranks);

 private:
  struct Entry {
    Context* context = nullptr;
    std::uint32_t budget_ppm = 0;
    std::uint32_t ranks = 0;  // 0: unknown so far
    bool spans_hosts = false;
  };

  std::mutex mutex_;
  std::map<core::ContextId, Entry> entries_;
  std::atomic<int> sharing_{0};  // number of communicators without a context
};

}  // namespace dlcp::nccl
