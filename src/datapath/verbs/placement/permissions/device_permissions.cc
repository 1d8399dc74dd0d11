#include "datapath/verbs/placement/permissions/device_permissions.h"

#include <algorithm>
#include <utility>

namespace dlcp::datapath {

Result<std::unique_ptr<DevicePermissions>> DevicePermissions::open(VerbsCard& card,
                                                                   MemoryRegions& registered,
                                                                   const PlacementAbility& ability,
                                                                   std::size_t windows_max,
                                                                   PlacementCounters& counters) {
  std::unique_ptr<DevicePermissions> all(new DevicePermissions(registered));
  if (ability.permissions == PermissionKind::kWindow) {
    auto windows = WindowPermissions::open(card, registered, windows_max, counters, all->ages_);
    if (!windows) return windows.error();
    all->windows_ = std::move(windows).value();
    all->pools_.push_back(all->windows_.get());
  }
  if (ability.uses_regions()) {
    all->regions_ = std::make_unique<RegionPermissions>(card, registered, counters, all->ages_);
    all->pools_.push_back(all->regions_.get());
  }
  return all;
}

// Memory that is not registered gets no permission from either.
PermissionPool& DevicePermissions::pool_for(std::span<const std::byte> memory) {
  if (windows_ == nullptr) return *regions_;
  if (regions_ == nullptr || registered_.bindable_region_of(memory) != nullptr) return *windows_;
  return *regions_;
}

// The pool that does not have the permission ignores this.
void DevicePermissions::revoke(PermissionId id) {
  for (PermissionPool* pool : pools_)
    pool->revoke(id);
}

std::size_t DevicePermissions::poll(Time now, std::span<PermissionEvent> out) {
  ages_.on_time(now);
  std::size_t count = 0;
  for (PermissionPool* pool : pools_) {
    const auto rest = out.subspan(count);
    pool->poll(now, rest.size());
    count += pool->take(rest);
  }
  return count;
}

bool DevicePermissions::awaits_poll() const {
  return std::ranges::any_of(pools_, &PermissionPool::awaits_poll);
}

bool DevicePermissions::arm(Verbs& verbs) {
  return std::ranges::all_of(
      pools_, [&](PermissionPool* pool) { return pool->arm(verbs); });
}

bool DevicePermissions::revoke_link(LinkId link) {
  bool ended = true;
  for (PermissionPool* pool : pools_)
    ended = pool->revoke_link(link) && ended;
  return ended;
}

bool DevicePermissions::revoke_memory(std::span<const std::byte> memory) {
  bool ended = true;
  for (PermissionPool* pool : pools_)
    ended = pool->revoke_memory(memory) && ended;
  return ended;
}

}  // namespace dlcp::datapath
