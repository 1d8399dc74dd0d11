// All permissions of a device. The memory decides of which kind a permission is: a memory window
// where the self-test has proven windows and the driver can bind one, a memory region elsewhere.
// Drivers refuse windows in a dma-buf, so a device with windows uses both kinds at the same time.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "datapath/verbs/placement/permissions/permission_pool.h"
#include "datapath/verbs/placement/permissions/region_permissions.h"
#include "datapath/verbs/placement/permissions/window_permissions.h"
#include "datapath/verbs/placement/placement_ability.h"

namespace dlcp::datapath {

class DevicePermissions {
 public:
  // `ability` must place(). At most `windows_max` windows are used.
  static Result<std::unique_ptr<DevicePermissions>> open(VerbsCard& card, MemoryRegions& registered,
                                                         const PlacementAbility& ability,
                                                         std::size_t windows_max,
                                                         PlacementCounters& counters);

  void permit(PermissionId id, LinkId link, std::span<std::byte> memory) {
    pool_for(memory).permit(id, link, memory);
  }
  void revoke(PermissionId id);
  // Makes progress and returns events; fewer than `out` has room for if none is left.
  std::size_t poll(Time now, std::span<PermissionEvent> out);
  // As in PermissionPool, for both kinds.
  bool awaits_poll() const;
  bool arm(Verbs& verbs);
  bool revoke_link(LinkId link);
  bool revoke_memory(std::span<const std::byte> memory);

 private:
  explicit DevicePermissions(MemoryRegions& registered) : registered_(registered) {}
  PermissionPool& pool_for(std::span<const std::byte> memory);

  MemoryRegions& registered_;
  // Of both kinds: a driver may give the key of a region that has ended to a window, and the
  // reverse.
  KeyAges ages_;
  std::unique_ptr<WindowPermissions> windows_;  // null if windows are not proven
  std::unique_ptr<RegionPermissions> regions_;  // null if all permissions are windows
  std::vector<PermissionPool*> pools_;          // those of the two that exist
};

}  // namespace dlcp::datapath
