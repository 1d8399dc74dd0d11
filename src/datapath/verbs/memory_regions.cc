#include "datapath/verbs/memory_regions.h"

#include <algorithm>

namespace dlcp::datapath {

Status MemoryRegions::add(std::span<std::byte> memory) {
  if (memory.empty()) return Unit{};
  Region& region = regions_[range_of(memory)];
  if (region.users == 0) {
    // Read access is enough, because received data is copied into the memory.
    region.mr = {card_.verbs->reg_mr(card_.pd.get(), memory.data(), memory.size(), 0),
                 {card_.verbs.get()}};
    if (region.mr == nullptr) {
      regions_.erase(range_of(memory));
      return verbs_error("register memory", card_.port, 0);
    }
    longest_ = std::max<std::uintptr_t>(longest_, memory.size());
  }
  ++region.users;
  return Unit{};
}

void MemoryRegions::release(std::span<std::byte> memory) {
  const auto found = regions_.find(range_of(memory));
  if (found != regions_.end() && --found->second.users == 0) {
    regions_.erase(found);
    last_ = {};
  }
}

std::optional<std::uint32_t> MemoryRegions::look_up(Range piece) {
  const auto [begin, end] = piece;
  // Searches backwards from the last region that begins at or before the piece; few regions
  // overlap.
  auto at = regions_.upper_bound({begin, UINTPTR_MAX});
  while (at != regions_.begin()) {
    --at;
    if (begin - at->first.first > longest_) break;
    if (end <= at->first.second) {
      last_ = at->first;
      last_key_ = at->second.mr->lkey;
      return last_key_;
    }
  }
  return std::nullopt;
}

}  // namespace dlcp::datapath
