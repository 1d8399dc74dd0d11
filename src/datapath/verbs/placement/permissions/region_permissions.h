// Permissions as memory regions: the segment is registered for remote writes and deregistered to
// revoke. The kernel's deregistration returns only after writes in progress have ended, on every
// device. It costs four system calls for each segment, two of them to look at the key.
//
// Some drivers keep a stack of keys, so that the next registration has the key of the last one that
// ended. Such a key is parked for kKeyLifetime: a registration of the memory, without remote
// access, keeps it from the stack. The end of the memory's own registration ends that, too.
#pragma once

#include <deque>
#include <map>

#include "datapath/verbs/device/memory_regions.h"
#include "datapath/verbs/placement/permissions/permission_pool.h"

namespace dlcp::datapath {

class RegionPermissions final : public PermissionPool {
 public:
  RegionPermissions(VerbsCard& card, MemoryRegions& registered, PlacementCounters& counters,
                    KeyAges& ages)
      : PermissionPool(counters, ages), card_(card), registered_(registered) {}

  void permit(PermissionId id, LinkId link, std::span<std::byte> memory) override;
  void revoke(PermissionId id) override;
  void poll(Time now, std::size_t enough) override;
  bool revoke_link(LinkId link) override;
  bool revoke_memory(std::span<const std::byte> memory) override;

 private:
  struct Entry {
    LinkId link = LinkId::kNone;
    std::span<std::byte> memory;
    MrPtr mr;                 // null until granted
    bool is_revoked = false;  // revoke() was called
  };
  using Entries = std::map<PermissionId, Entry>;

  void give(Time now, Entries::iterator entry);
  bool end(Entry& entry);
  MrPtr register_fresh(Time now, std::span<std::byte> memory);

  VerbsCard& card_;
  MemoryRegions& registered_;
  Entries entries_;

  struct Parked {
    Time until;
    std::span<const std::byte> memory;
    MrPtr mr;
  };
  std::deque<Parked> parked_;
};

}  // namespace dlcp::datapath
