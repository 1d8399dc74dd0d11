#include "nccl/context/communicators.h"

#include <algorithm>

namespace dlcp::nccl {

Communicators& Communicators::of_process() {
  static auto* const all = new Communicators;
  return *all;
}

void Communicators::add(Context& context, std::uint32_t budget_ppm) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[context.id()];  // each connect adds it again
  entry.context = &context;
  entry.budget_ppm = budget_ppm;
}

void Communicators::forget(const Context& context) {
  const std::lock_guard lock(mutex_);
  entries_.erase(context.id());
}

std::optional<std::uint32_t> Communicators::budget(std::uint64_t comm_id) {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, entry] : entries_)
    if (entry.context->comm_id() == comm_id)  // the same for all ranks of the communicator
      return entry.budget_ppm;
  return std::nullopt;
}

std::uint32_t Communicators::ranks(const Context& context) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(context.id());
  return found != entries_.end() ? found->second.ranks : 0;
}

bool Communicators::shared() {
  if (sharing_.load(std::memory_order_relaxed) > 0) return true;
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(entries_, [](const auto& each) {
    return each.second.spans_hosts && !each.second.context->was_used();
  });
}

bool Communicators::learn_ranks(std::uint64_t comm_id, std::size_t ranks, std::size_t nodes) {
  const std::lock_guard lock(mutex_);
  bool known = false;
  for (auto& [id, entry] : entries_) {
    if (entry.context->comm_id() == comm_id) {
      known = true;
      entry.ranks = static_cast<std::uint32_t>(ranks);
      entry.spans_hosts = nodes > 1;
    }
  }
  sharing_ += known ? 0 : 1;
  return known;
}

bool Communicators::learn_rank(std::uint64_t comm_id, int rank, int ranks) {
  const std::lock_guard lock(mutex_);
  Context* named = nullptr;
  for (const auto& [id, entry] : entries_) {
    if (entry.context->comm_id() != comm_id) continue;
    if (named != nullptr)
      return true;  // several ranks in this process; NCCL does not say which one
    named = entry.context;
  }
  if (named != nullptr) named->describe_rank(rank, ranks);
  return named != nullptr;
}

}  // namespace dlcp::nccl
