// Permissions as memory windows of type 1: a window is bound to the segment in a region that is
// registered anyway, and unbound to revoke, without system calls. Only for devices on which the
// completion of an unbind means that writes in progress have ended: cards, not Soft-RoCE.
//
// Each bind and unbind changes the key, but only eight bits of it, so that the same key returns
// after 256 of them. A window therefore rests for kKeyLifetime before that (kBindsMax).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "datapath/verbs/device/memory_regions.h"
#include "datapath/verbs/placement/permissions/permission_pool.h"
#include "datapath/verbs/placement/queue_pairs/work_queue.h"

namespace dlcp::datapath {

class WindowPermissions final : public PermissionPool {
 public:
  static constexpr unsigned kBindsMax = 240;  // between two rests; even

  static Result<std::unique_ptr<WindowPermissions>> open(VerbsCard& card, MemoryRegions& registered,
                                                         std::size_t windows_max,
                                                         PlacementCounters& counters,
                                                         KeyAges& ages);

  void permit(PermissionId id, LinkId link, std::span<std::byte> memory) override;
  void revoke(PermissionId id) override;
  void poll(Time now, std::size_t enough) override;
  bool arm(Verbs& verbs) override { return verbs.req_notify_cq(work_->completions()) == 0; }
  bool revoke_link(LinkId link) override;
  bool revoke_memory(std::span<const std::byte> memory) override;

 private:
  enum class State : std::uint8_t {
    kWaiting,
    kBinding,
    kBound,
    kUnbinding,
    kEnding,  // the window has to be freed, because its state is unknown
  };
  struct Entry {
    LinkId link = LinkId::kNone;
    std::span<std::byte> memory;
    State state = State::kWaiting;
    bool is_revoked = false;   // revoke() was called
    std::size_t window = 0;    // unless kWaiting
    ibv_mr* region = nullptr;  // that the window is bound in, unless kWaiting
  };
  using Entries = std::map<PermissionId, Entry>;
  struct Window {
    MwPtr mw;                  // null if it had to be freed
    std::uint32_t serial = 0;  // counts the windows in this element
    unsigned binds = 0;
    PermissionId user = PermissionId::kNone;
  };
  struct Resting {
    Time until;
    std::size_t window;
  };

  WindowPermissions(VerbsCard& card, MemoryRegions& registered, std::size_t windows_max,
                    PlacementCounters& counters, KeyAges& ages)
      : PermissionPool(counters, ages),
        card_(card),
        registered_(registered),
        windows_max_(windows_max) {}
  void collect();
  void on_done(const WorkQueue::Done& done);
  void reopen();
  void advance_all();
  bool advance(Entries::iterator entry);
  void bind(Entries::iterator entry);
  void unbind(Entries::iterator entry);
  void end(Entries::iterator entry);
  std::optional<std::size_t> take_window();
  void put_back(std::size_t window);
  bool gets_young_key(std::size_t window) const;
  void rest(std::size_t window);
  bool free_window(std::size_t window);
  std::size_t token_of(std::size_t window) const;
  template <class Matches>
  bool revoke_now(bool with_events, const Matches& matches);

  VerbsCard& card_;
  MemoryRegions& registered_;
  const std::size_t windows_max_;
  std::unique_ptr<WorkQueue> work_;
  std::vector<Window> windows_;
  std::vector<std::size_t> unmade_;  // elements of windows_ without a window
  std::deque<std::size_t> free_;
  std::deque<Resting> resting_;
  Entries entries_;
  Time now_;        // of the last poll()
  Time reopen_at_;  // the next attempt, if work_ is broken
};

}  // namespace dlcp::datapath
