#include "datapath/verbs/placement/self_test/self_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "datapath/verbs/device/gpu_probe.h"
#include "datapath/verbs/placement/permissions/window_permissions.h"
#include "datapath/verbs/placement/queue_pairs/work_queue.h"
#include "datapath/verbs/placement/self_test/loop.h"

namespace dlcp::datapath {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Duration kUnderFire = 100ms;  // how long revocation is tested with writes under way
constexpr Duration kPatience = 1s;      // for a bind
constexpr std::size_t kSalvo = 32;      // writes that are under way at a revocation
constexpr std::size_t kTimed = 15;

// One way to give and revoke a permission for the loop's memory. Both return false on failure.
class Way {
 public:
  virtual ~Way() = default;
  virtual bool give() = 0;
  virtual bool take() = 0;
  virtual std::uint32_t key() const = 0;
};

class RegionWay final : public Way {
 public:
  RegionWay(VerbsCard& card, Loop& loop) : card_(card), loop_(loop) {}
  bool give() override {
    const auto memory = loop_.target();
    mr_ = {card_.verbs->reg_mr(card_.pd.get(), memory.data(), memory.size(), kPlacedAccess),
           {card_.verbs.get()}};
    if (mr_ != nullptr) key_ = mr_->rkey;
    return mr_ != nullptr;
  }
  bool take() override {
    if (card_.verbs->dereg_mr(mr_.get()) != 0) return false;
    (void)mr_.release();
    return true;
  }
  std::uint32_t key() const override { return key_; }

 private:
  VerbsCard& card_;
  Loop& loop_;
  MrPtr mr_;
  std::uint32_t key_ = 0;
};

class WindowWay final : public Way {
 public:
  static Result<std::unique_ptr<WindowWay>> open(VerbsCard& card, Loop& loop) {
    std::unique_ptr<WindowWay> way(new WindowWay(loop));
    way->window_ = {card.verbs->alloc_mw(card.pd.get()), {card.verbs.get()}};
    if (way->window_ == nullptr) return verbs_error("allocate a memory window", card.port, 0);
    auto work = WorkQueue::open(card, way->counters_);
    if (!work) return work.error();
    way->work_ = std::move(work).value();
    return way;
  }
  bool give() override {
    const bool bound = bind(loop_.target().size());
    key_ = window_->rkey;
    return bound;
  }
  bool take() override { return bind(0); }
  std::uint32_t key() const override { return key_; }

 private:
  explicit WindowWay(Loop& loop) : loop_(loop) {}
  bool bind(std::size_t bytes) {
    if (!work_->bind(window_.get(), loop_.target_region(),
                     reinterpret_cast<std::uintptr_t>(loop_.target().data()), bytes, 0))
      return false;
    const auto end = Clock::now() + kPatience;
    while (Clock::now() < end)
      if (const auto done = work_->next()) return done->succeeded;
    return false;
  }

  Loop& loop_;
  PlacementCounters counters_;
  std::unique_ptr<WorkQueue> work_;
  MwPtr window_;
  std::uint32_t key_ = 0;
};

// Returns what is wrong with the way; empty if it is safe. Over RC a revoked key breaks the queue
// pair, which is then replaced.
std::string check_way(Way& way, Loop& loop, PlacementTransport transport) {
  if (!way.give()) return "a permission cannot be given";
  if (!loop.is_placed(way.key())) return "a write with a valid key does not arrive";
  if (!way.take()) return "a permission cannot be revoked";
  if (transport == PlacementTransport::kRc) {
    if (!loop.is_refused(way.key())) return "a write with a revoked key is not refused";
    if (!loop.settles()) return "new queue pairs do not work after a write that was refused";
  } else if (!loop.is_dropped(way.key())) {
    return "a write with a revoked key is not dropped silently";
  }
  const auto end = Clock::now() + kUnderFire;
  while (Clock::now() < end) {
    if (!way.give()) return "a permission cannot be given again";
    loop.write(way.key(), kSalvo);
    if (!way.take()) return "a permission cannot be revoked again";
    loop.fill_with_canary();
    if (!loop.settles()) return "revoking a permission in use stops the queue pair";
    if (!loop.is_canary_intact()) return "bytes changed after the permission was revoked";
  }
  return "";
}

// A window must not get the same key again before it rests.
std::string check_keys(WindowWay& way) {
  std::set<std::uint32_t> keys;
  for (unsigned binds = 0; binds < WindowPermissions::kBindsMax; binds += 2) {
    if (!way.give() || !keys.insert(way.key()).second)
      return "the keys of a memory window repeat too soon";
    if (!way.take()) return "a memory window cannot be unbound";
  }
  return "";
}

Duration time_of(Way& way) {
  std::vector<Duration> times;
  for (std::size_t i = 0; i < kTimed; ++i) {
    const auto start = Clock::now();
    if (!way.give() || !way.take()) return {};
    times.push_back(Clock::now() - start);
  }
  std::ranges::nth_element(times, times.begin() + kTimed / 2);
  return times[kTimed / 2];
}

// Returns why windows cannot be used; empty if they can.
std::string check_windows(VerbsCard& card, Loop& loop, PlacementAbility& ability) {
  if (is_software(card.port)) return "a software device does not wait for writes in progress";
  auto opened = WindowWay::open(card, loop);
  if (!opened) return opened.error().what;
  WindowWay& way = *opened.value();
  std::string wrong = check_way(way, loop, ability.transport);
  if (wrong.empty()) wrong = check_keys(way);
  if (!wrong.empty()) return wrong;
  ability.permissions = PermissionKind::kWindow;
  ability.permit_time = time_of(way);
  return "";
}

// Returns why regions cannot be used; empty if they can. The loop is another one than that of the
// windows, because a failed test may have broken the first. The memory is the host's, also for
// permissions in a dma-buf: there is none before the application has GPU memory.
std::string check_regions(VerbsCard& card, PlacementTransport transport, Duration& time) {
  auto loop = Loop::open(card, transport);
  if (!loop) return loop.error().what;
  RegionWay way(card, *loop.value());
  std::string wrong = check_way(way, *loop.value(), transport);
  if (wrong.empty()) time = time_of(way);
  return wrong;
}

void check_permissions(VerbsCard& card, Loop& loop, PlacementAbility& ability) {
  const std::string windows = check_windows(card, loop, ability);
  if (windows.empty()) return;
  ability.reason = "memory windows: " + windows;
  const std::string regions = check_regions(card, ability.transport, ability.permit_time);
  if (regions.empty())
    ability.permissions = PermissionKind::kRegion;
  else
    ability.reason += "; memory regions: " + regions;
}

// Flushes and writes to GPU memory are such reads. Returns what is wrong; empty if nothing is.
std::string check_read(VerbsCard& card) {
  std::vector<std::byte> from(64, std::byte{0x5a}), to(from.size());
  const auto add = [&](std::vector<std::byte>& memory, int access) {
    return MrPtr(card.verbs->reg_mr(card.pd.get(), memory.data(), memory.size(), access),
                 {card.verbs.get()});
  };
  const MrPtr from_mr = add(from, IBV_ACCESS_REMOTE_READ);
  const MrPtr to_mr = add(to, IBV_ACCESS_LOCAL_WRITE);
  if (from_mr == nullptr || to_mr == nullptr) return "memory cannot be registered";
  PlacementCounters counters;
  auto work = WorkQueue::open(card, counters);
  if (!work) return work.error().what;
  constexpr const char* kFails = "the device cannot read from itself";
  if (!work.value()->read(to, to_mr->lkey, reinterpret_cast<std::uintptr_t>(from.data()),
                          from_mr->rkey, 0))
    return kFails;
  std::optional<WorkQueue::Done> done;
  for (const auto end = Clock::now() + kPatience; !done && Clock::now() < end;)
    done = work.value()->next();
  return done && done->succeeded && to == from ? "" : kFails;
}

// Sets the GPU memory that the device can use; why not more is added to the reason.
void check_gpu_memory(VerbsCard& card, const GpuAccess& by_driver, PlacementAbility& ability) {
  if (!by_driver.dma_buf && !by_driver.peer_memory) return;
  std::string wrong = check_read(card);
  if (wrong.empty()) {
    ability.gpu = by_driver;
    if (by_driver.dma_buf && ability.permissions == PermissionKind::kWindow)
      wrong = check_regions(card, ability.transport, ability.region_time);
    if (wrong.empty()) return;
    ability.gpu.dma_buf = false;
    wrong = "dma-buf needs permissions by memory regions: " + wrong;
  }
  ability.reason += fmt::format("{}GPU memory: {}", ability.reason.empty() ? "" : "; ", wrong);
}

}  // namespace

Result<PlacementAbility> self_test(std::shared_ptr<Verbs> verbs, const RocePort& port,
                                   bool only_reliable, const std::string& sys_root) {
  auto opened = VerbsCard::open(std::move(verbs), port, 64, 64);
  if (!opened) return opened.error();
  VerbsCard& card = *opened.value();
  const GpuAccess gpu = probe_gpu_access(*card.verbs, card.pd.get(), port, sys_root);
  std::string reasons;
  for (const auto transport : {PlacementTransport::kUc, PlacementTransport::kRc}) {
    const char* const name = transport == PlacementTransport::kUc ? "UC" : "RC";
    if (only_reliable && transport != PlacementTransport::kRc) continue;
    auto loop = Loop::open(card, transport);
    std::string wrong = loop ? "" : loop.error().what;
    if (loop && !loop.value()->passes()) wrong = "a write to the device itself does not arrive";
    PlacementAbility ability;
    if (wrong.empty()) {
      ability.transport = transport;
      check_permissions(card, *loop.value(), ability);
      wrong = ability.permissions == PermissionKind::kNone ? ability.reason : "";
    }
    if (wrong.empty()) {
      if (!reasons.empty() && !ability.reason.empty()) reasons += "; ";
      ability.reason = reasons + ability.reason;
      check_gpu_memory(card, gpu, ability);
      return ability;
    }
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", name, wrong);
  }
  PlacementAbility none;
  none.reason = reasons;
  return none;
}

}  // namespace dlcp::datapath
