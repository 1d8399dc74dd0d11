#include "datapath/verbs/placement/permissions/device_permissions.h"

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
  }
  if (ability.uses_regions())
    all->regions_ = std::make_unique<RegionPermissions>(card, registered, counters, all->ages_);
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
  if (windows_ != nullptr) windows_->revoke(id);
  if (regions_ != nullptr) regions_->revoke(id);
}

std::size_t DevicePermissions::poll(Time now, std::span<PermissionEvent> out) {
  ages_.on_time(now);
  std::size_t count = 0;
  const auto poll_pool = [&](PermissionPool* pool) {
    if (pool == nullptr) return;
    const auto rest = out.subspan(count);
    pool->poll(now, rest.size());
    count += pool->take(rest);
  };
  poll_pool(windows_.get());
  poll_pool(regions_.get());
  return count;
}

bool DevicePermissions::awaits_poll() const {
  return (windows_ != nullptr && windows_->awaits_poll()) ||
         (regions_ != nullptr && regions_->awaits_poll());
}

bool DevicePermissions::arm(Verbs& verbs) {
  return (windows_ == nullptr || windows_->arm(verbs)) &&
         (regions_ == nullptr || regions_->arm(verbs));
}

bool DevicePermissions::revoke_link(LinkId link) {
  const bool windows_ended = windows_ == nullptr || windows_->revoke_link(link);
  const bool regions_ended = regions_ == nullptr || regions_->revoke_link(link);
  return windows_ended && regions_ended;
}

bool DevicePermissions::revoke_memory(std::span<const std::byte> memory) {
  const bool windows_ended = windows_ == nullptr || windows_->revoke_memory(memory);
  const bool regions_ended = regions_ == nullptr || regions_->revoke_memory(memory);
  return windows_ended && regions_ended;
}

}  // namespace dlcp::datapath
