#include "datapath/verbs/placement/permissions/region_permissions.h"

#include <utility>

namespace dlcp::datapath {
namespace {

constexpr std::size_t kTries = 8;         // registrations tried for a key that is not young
constexpr std::size_t kParkedMax = 4096;  // keys; each costs the card a region

}  // namespace

void RegionPermissions::permit(PermissionId id, LinkId link, std::span<std::byte> memory) {
  Entry& entry = entries_[id];
  entry.link = link;
  entry.memory = memory;
  waiting_.push_back(id);
}

void RegionPermissions::revoke(PermissionId id) {
  const auto found = entries_.find(id);
  if (found == entries_.end() || std::exchange(found->second.is_revoked, true)) return;
  waiting_.push_back(id);
}

void RegionPermissions::poll(Time now, std::size_t enough) {
  while (!parked_.empty() && parked_.front().until <= now)
    parked_.pop_front();
  for (std::size_t left = waiting_.size(); left > 0 && events() < enough; --left) {
    const PermissionId id = waiting_.front();
    waiting_.pop_front();
    const auto found = entries_.find(id);
    if (found == entries_.end()) continue;
    if (!found->second.is_revoked) {
      give(now, found);
    } else if (end(found->second)) {
      report_revoked(id);
      entries_.erase(found);
    } else {
      waiting_.push_back(id);  // the next poll() tries again
    }
  }
}

// With a key that is young, a late packet of the segment before could overwrite data of the new one
// that ordinary packets have brought. So keys are tried without remote access first. If the driver
// has a stack of keys, the second registration gets the same key as the first. mlx5 has a stack for
// each size, memory ordering and kind of memory, so the two may differ in remote access only.
MrPtr RegionPermissions::register_fresh(Time now, std::span<std::byte> memory) {
  for (std::size_t tries = 0; tries < kTries && parked_.size() < kParkedMax; ++tries) {
    auto tried = registered_.register_piece(memory, kPlacedAccess & ~IBV_ACCESS_REMOTE_WRITE);
    if (tried == nullptr) break;
    if (ages_.is_young(tried->rkey)) {
      parked_.push_back({now + kKeyLifetime, memory, std::move(tried)});
      continue;
    }
    tried.reset();
    auto mr = registered_.register_piece(memory, kPlacedAccess);
    if (mr == nullptr || !ages_.is_young(mr->rkey)) return mr;
  }
  return {nullptr, {card_.verbs.get()}};
}

void RegionPermissions::give(Time now, Entries::iterator entry) {
  Entry& wanted = entry->second;
  if (!wanted.memory.empty()) wanted.mr = register_fresh(now, wanted.memory);
  if (wanted.mr != nullptr) {
    grant(entry->first, wanted.memory, wanted.mr->rkey);
  } else {
    refuse(entry->first);
    entries_.erase(entry);
  }
}

// False if the card refuses; the region then still exists.
bool RegionPermissions::end(Entry& entry) {
  if (entry.mr == nullptr) return true;
  const std::uint32_t key = entry.mr->rkey;
  if (card_.verbs->dereg_mr(entry.mr.get()) != 0) return false;
  (void)entry.mr.release();
  ages_.on_revoked(key);
  return true;
}

bool RegionPermissions::revoke_link(LinkId link) {
  bool ended = true;
  for (auto at = entries_.begin(); at != entries_.end();) {
    if (at->second.link != link) {
      ++at;
    } else if (end(at->second)) {
      counters_.permissions_revoked += 1;
      forget_events_of(at->first);
      at = entries_.erase(at);
    } else {
      ended = false;
      ++at;
    }
  }
  return ended;
}

// Also ends what keeps the memory registered for the sake of its key, which stays young.
bool RegionPermissions::revoke_memory(std::span<const std::byte> memory) {
  std::erase_if(parked_, [&](const Parked& parked) { return overlap(parked.memory, memory); });
  bool ended = true;
  for (auto at = entries_.begin(); at != entries_.end();) {
    if (!overlap(at->second.memory, memory)) {
      ++at;
    } else if (end(at->second)) {
      forget_events_of(at->first);
      report_revoked(at->first);
      at = entries_.erase(at);
    } else {
      ended = false;
      ++at;
    }
  }
  return ended;
}

}  // namespace dlcp::datapath
