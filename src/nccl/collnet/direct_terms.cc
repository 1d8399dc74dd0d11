#include "nccl/collnet/direct_terms.h"

namespace dlcp::nccl {

DirectGroups& DirectGroups::of_process() {
  static auto* const all = new DirectGroups;
  return *all;
}

void DirectGroups::add(std::uint64_t comm_id, const DirectTerms& terms) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[comm_id];
  if (entry.groups++ == 0) entry.terms = terms;
}

void DirectGroups::remove(std::uint64_t comm_id) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(comm_id);
  if (found != entries_.end() && --found->second.groups == 0) entries_.erase(found);
}

std::optional<DirectTerms> DirectGroups::find(std::uint64_t comm_id) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(comm_id);
  return found == entries_.end() ? std::nullopt : std::optional(found->second.terms);
}

}  // namespace dlcp::nccl
