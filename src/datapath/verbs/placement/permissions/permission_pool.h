// Gives and revokes permissions to write to registered memory; window_permissions.h and
// region_permissions.h are the two ways, between which device_permissions.h chooses. Calls that
// wait for the card are made only in poll() and in the functions that revoke at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <span>

#include "datapath/placement.h"
#include "datapath/verbs/device/verbs.h"
#include "datapath/verbs/placement/permissions/key_ages.h"
#include "datapath/verbs/placement/placement_counters.h"
#include "util/memory/overlap.h"
#include "util/time.h"

namespace dlcp::datapath {

class PermissionPool {
 public:
  PermissionPool(PlacementCounters& counters, KeyAges& ages) : counters_(counters), ages_(ages) {}
  virtual ~PermissionPool() = default;
  PermissionPool(const PermissionPool&) = delete;
  PermissionPool& operator=(const PermissionPool&) = delete;

  virtual void permit(PermissionId id, LinkId link, std::span<std::byte> memory) = 0;
  virtual void revoke(PermissionId id) = 0;
  // Makes progress until there are `enough` events, which take() returns. The ages of keys must
  // have the time `now` already.
  virtual void poll(Time now, std::size_t enough) = 0;

  // True if poll() has work, or take() events, that no event of the card's channel announces.
  bool awaits_poll() const { return !waiting_.empty() || !events_.empty(); }
  // Asks for an event on the card's channel when poll() has more to do.
  virtual bool arm(Verbs&) { return true; }

  // Revoke before they return. False if the card refused: the peer can still write.
  virtual bool revoke_link(LinkId link) = 0;                          // without events
  virtual bool revoke_memory(std::span<const std::byte> memory) = 0;  // with events

  std::size_t take(std::span<PermissionEvent> out) {
    const std::size_t count = std::min(out.size(), events_.size());
    std::copy_n(events_.begin(), count, out.begin());
    events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
  }

 protected:
  std::size_t events() const { return events_.size(); }
  void grant(PermissionId id, std::span<std::byte> memory, std::uint32_t key) {
    ++counters_.permissions_granted;
    events_.push_back({id,
                       PermissionEvent::Kind::kGranted,
                       {reinterpret_cast<std::uintptr_t>(memory.data()), key,
                        static_cast<std::uint32_t>(memory.size())}});
  }
  void refuse(PermissionId id) {
    ++counters_.permissions_refused;
    events_.push_back({id, PermissionEvent::Kind::kRefused, {}});
  }
  void report_revoked(PermissionId id) {
    ++counters_.permissions_revoked;
    events_.push_back({id, PermissionEvent::Kind::kRevoked, {}});
  }
  void forget_events_of(PermissionId id) {
    std::erase_if(
        events_, [&](const PermissionEvent& event) { return event.id == id; });
  }

  PlacementCounters& counters_;
  KeyAges& ages_;                     // of all pools of the device
  std::deque<PermissionId> waiting_;  // for poll(): after permit(), after revoke(), or to be ended

 private:
  std::deque<PermissionEvent> events_;
};

}  // namespace dlcp::datapath
