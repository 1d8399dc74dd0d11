// Permissions as memory regions: the segment is registered for remote writes and deregistered to
// revoke. The kernel's deregistration returns only after writes in progress have ended, on every
// device. It costs four system calls for each segment, two of them to look at the key.
//
// Some drivers keep a stack of keys, so that the next registration has the key of the last one that
// ended. Such keys are parked for kKeyLifetime: a registration of other memory, without remote
// access, takes them from the stack.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "datapath/verbs/device/memory_regions.h"
#include "datapath/verbs/placement/permissions/permission_pool.h"

namespace dlcp::datapath {

class RegionPermissions final : public PermissionPool {
 public:
  RegionPermissions(VerbsCard& card, MemoryRegions& registered, PlacementCounters& counters)
      : PermissionPool(counters), card_(card), registered_(registered) {}

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
  bool park_one(Time now, std::size_t bytes);

  VerbsCard& card_;
  MemoryRegions& registered_;
  Entries entries_;

  struct Parked {
    Time until;
    MrPtr mr;
  };
  std::vector<std::vector<std::byte>> parking_;  // memory of parked keys; the last is the largest
  std::deque<Parked> parked_;
};

}  // namespace dlcp::datapath
