#include "datapath/verbs/memory_regions.h"

#include <algorithm>

namespace dlcp::datapath {

namespace {

constexpr int kBindable = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND;

}  // namespace

ibv_mr* MemoryRegions::register_with(std::span<std::byte> memory, int access) {
  return card_.verbs->reg_mr(card_.pd.get(), memory.data(), memory.size(), access);
}

// Without windows read access is enough: received data is copied into the memory, or the card
// writes it by a registration for this purpose (placement/region_permissions.h).
Status MemoryRegions::add(std::span<std::byte> memory) {
  if (memory.empty()) return Unit{};
  Region& region = regions_[range_of(memory)];
  if (region.users == 0) {
    region.mr = {bindable_ ? register_with(memory, kBindable) : nullptr, {card_.verbs.get()}};
    region.is_bindable = region.mr != nullptr;
    if (region.mr == nullptr) region.mr.reset(register_with(memory, 0));
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

bool MemoryRegions::is_last_use(std::span<std::byte> memory) const {
  const auto found = regions_.find(range_of(memory));
  return found != regions_.end() && found->second.users == 1;
}

// Searches backwards from the last region that begins at or before the piece; few regions overlap.
MemoryRegions::Regions::const_iterator MemoryRegions::find(Range piece) const {
  const auto [begin, end] = piece;
  auto at = regions_.upper_bound({begin, UINTPTR_MAX});
  while (at != regions_.begin()) {
    --at;
    if (begin - at->first.first > longest_) break;
    if (end <= at->first.second) return at;
  }
  return regions_.end();
}

std::optional<std::uint32_t> MemoryRegions::look_up(Range piece) {
  const auto found = find(piece);
  if (found == regions_.end()) return std::nullopt;
  last_ = found->first;
  last_key_ = found->second.mr->lkey;
  return last_key_;
}

ibv_mr* MemoryRegions::bindable_region_of(std::span<const std::byte> piece) {
  const auto found = find(range_of(piece));
  return found != regions_.end() && found->second.is_bindable ? found->second.mr.get() : nullptr;
}

}  // namespace dlcp::datapath
