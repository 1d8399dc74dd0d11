#include "datapath/verbs/placement/permissions/window_permissions.h"

#include <utility>

namespace dlcp::datapath {
namespace {

constexpr Duration kReopenPause = 1s;
constexpr unsigned kIndexBits = 24;          // of a token
constexpr std::uint32_t kKeyCounter = 0xff;  // the bits of a key that a bind increases

}  // namespace

Result<std::unique_ptr<WindowPermissions>> WindowPermissions::open(VerbsCard& card,
                                                                   MemoryRegions& registered,
                                                                   std::size_t windows_max,
                                                                   PlacementCounters& counters,
                                                                   KeyAges& ages) {
  std::unique_ptr<WindowPermissions> pool(
      new WindowPermissions(card, registered, windows_max, counters, ages));
  auto work = WorkQueue::open(card, counters);
  if (!work) return work.error();
  pool->work_ = std::move(work).value();
  return pool;
}

void WindowPermissions::permit(PermissionId id, LinkId link, std::span<std::byte> memory) {
  entries_.insert({id, {link, memory}});
  waiting_.push_back(id);
}

void WindowPermissions::revoke(PermissionId id) {
  const auto found = entries_.find(id);
  if (found == entries_.end() || std::exchange(found->second.is_revoked, true)) return;
  if (found->second.state == State::kBound) waiting_.push_back(id);
}

void WindowPermissions::poll(Time now, std::size_t) {
  now_ = now;
  for (; !resting_.empty() && resting_.front().until <= now; resting_.pop_front())
    free_.push_back(resting_.front().window);
  // Twice, because binds of the first pass may be done already.
  for (int pass = 0; pass < 2; ++pass) {
    collect();
    reopen();
    advance_all();
  }
  collect();
}

void WindowPermissions::advance_all() {
  for (std::size_t left = waiting_.size(); left > 0; --left) {
    const PermissionId id = waiting_.front();
    const auto found = entries_.find(id);
    if (found != entries_.end() && !advance(found)) break;
    waiting_.pop_front();
  }
}

void WindowPermissions::collect() {
  while (const auto done = work_->next())
    on_done(*done);
}

// A broken queue has no outstanding requests any more when this is called.
void WindowPermissions::reopen() {
  if (!work_->is_broken() || now_ < reopen_at_) return;
  reopen_at_ = now_ + kReopenPause;
  if (auto again = WorkQueue::open(card_, counters_)) work_ = std::move(again).value();
}

std::size_t WindowPermissions::token_of(std::size_t window) const {
  return std::size_t{windows_[window].serial} << kIndexBits | window;
}

void WindowPermissions::on_done(const WorkQueue::Done& done) {
  const std::size_t index = done.token & ((std::size_t{1} << kIndexBits) - 1);
  if (done.token != token_of(index)) return;  // the window has been freed
  const auto entry = entries_.find(windows_[index].user);
  if (entry == entries_.end()) return;
  Entry& of = entry->second;
  const std::uint32_t key = windows_[index].mw->rkey;
  const bool usable = done.succeeded && (of.state == State::kUnbinding || !ages_.is_young(key));
  if (!usable) {
    if (of.state == State::kBinding && !of.is_revoked) refuse(entry->first);
    of.is_revoked |= of.state == State::kUnbinding;
    of.state = State::kEnding;
    waiting_.push_back(entry->first);
  } else if (of.state == State::kUnbinding) {
    report_revoked(entry->first);
    put_back(index);
    entries_.erase(entry);
  } else {
    of.state = State::kBound;
    if (of.is_revoked)
      waiting_.push_back(entry->first);
    else
      grant(entry->first, of.memory, key);
  }
}

// False if it has to wait.
bool WindowPermissions::advance(Entries::iterator entry) {
  Entry& of = entry->second;
  if (of.state == State::kEnding) {
    end(entry);
    return true;
  }
  if (of.state == State::kWaiting && of.is_revoked) {
    report_revoked(entry->first);
    entries_.erase(entry);
    return true;
  }
  if (work_->is_broken()) {
    if (of.state == State::kWaiting) {
      refuse(entry->first);
      entries_.erase(entry);
    } else {
      end(entry);
    }
    return true;
  }
  if (!work_->has_room()) return false;
  if (of.state == State::kWaiting)
    bind(entry);
  else
    unbind(entry);
  return true;
}

void WindowPermissions::bind(Entries::iterator entry) {
  Entry& of = entry->second;
  ibv_mr* const region = of.memory.empty() ? nullptr : registered_.bindable_region_of(of.memory);
  const auto window = region != nullptr ? take_window() : std::nullopt;
  if (window && work_->bind(windows_[*window].mw.get(), region,
                            reinterpret_cast<std::uintptr_t>(of.memory.data()), of.memory.size(),
                            token_of(*window))) {
    ++windows_[*window].binds;
    windows_[*window].user = entry->first;
    of.window = *window;
    of.region = region;
    of.state = State::kBinding;
    return;
  }
  if (window) free_.push_back(*window);
  refuse(entry->first);
  entries_.erase(entry);
}

void WindowPermissions::unbind(Entries::iterator entry) {
  Entry& of = entry->second;
  Window& window = windows_[of.window];
  if (work_->bind(window.mw.get(), of.region, 0, 0, token_of(of.window))) {
    ++window.binds;
    of.state = State::kUnbinding;
  } else {
    end(entry);
  }
}

// Frees the window, which also revokes. If the card refuses even that, poll() tries again.
void WindowPermissions::end(Entries::iterator entry) {
  entry->second.state = State::kEnding;
  if (!free_window(entry->second.window)) {
    waiting_.push_back(entry->first);
    return;
  }
  if (entry->second.is_revoked) report_revoked(entry->first);
  entries_.erase(entry);
}

// A window that would get a young key rests instead: with that key, a late packet could overwrite
// data that ordinary packets have brought, until the end of the bind is known.
std::optional<std::size_t> WindowPermissions::take_window() {
  while (!free_.empty()) {
    const std::size_t window = free_.front();
    free_.pop_front();
    if (!gets_young_key(window)) return window;
    rest(window);
  }
  if (unmade_.empty() && windows_.size() >= windows_max_) return std::nullopt;
  MwPtr mw(card_.verbs->alloc_mw(card_.pd.get()), {card_.verbs.get()});
  if (mw == nullptr) return std::nullopt;
  std::size_t index = windows_.size();
  if (unmade_.empty()) {
    windows_.emplace_back();
  } else {
    index = unmade_.back();
    unmade_.pop_back();
  }
  windows_[index].mw = std::move(mw);
  windows_[index].binds = 0;
  if (!gets_young_key(index)) return index;
  rest(index);
  return std::nullopt;
}

bool WindowPermissions::gets_young_key(std::size_t window) const {
  return ages_.is_young(ibv_inc_rkey(windows_[window].mw->rkey));
}

void WindowPermissions::rest(std::size_t window) {
  windows_[window].binds = 0;
  resting_.push_back({now_ + kKeyLifetime, window});
}

void WindowPermissions::put_back(std::size_t window) {
  windows_[window].user = PermissionId::kNone;
  if (windows_[window].binds < kBindsMax)
    free_.push_back(window);
  else
    rest(window);
}

// Afterwards the driver may give any key that the window had to another window or region.
bool WindowPermissions::free_window(std::size_t window) {
  Window& of = windows_[window];
  std::uint32_t key = of.mw->rkey;
  if (card_.verbs->dealloc_mw(of.mw.get()) != 0) return false;
  (void)of.mw.release();
  for (unsigned i = 0; i <= of.binds; ++i) {
    ages_.on_revoked(key);
    key = (key & ~kKeyCounter) | ((key - 1) & kKeyCounter);
  }
  of.user = PermissionId::kNone;
  ++of.serial;
  unmade_.push_back(window);
  return true;
}

template <class Matches>
bool WindowPermissions::revoke_now(bool with_events, const Matches& matches) {
  bool ended = true;
  for (auto at = entries_.begin(); at != entries_.end();) {
    Entry& of = at->second;
    if (!matches(of)) {
      ++at;
    } else if (of.state == State::kWaiting || free_window(of.window)) {
      forget_events_of(at->first);
      if (with_events)
        report_revoked(at->first);
      else
        ++counters_.permissions_revoked;
      at = entries_.erase(at);
    } else {
      ended = false;
      ++at;
    }
  }
  return ended;
}

bool WindowPermissions::revoke_link(LinkId link) {
  return revoke_now(
      false, [&](const Entry& entry) { return entry.link == link; });
}

bool WindowPermissions::revoke_memory(std::span<const std::byte> memory) {
  return revoke_now(
      true, [&](const Entry& entry) { return overlap(entry.memory, memory); });
}

}  // namespace dlcp::datapath
