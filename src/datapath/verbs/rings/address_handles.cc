#include "datapath/verbs/rings/address_handles.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "util/rng.h"

namespace dlcp::datapath {
namespace {

// After a failed attempt to make a handle, which may have taken the kernel a second, none is made
// for that peer during a pause. The pause doubles with each failure in a row.
constexpr Duration kPauseLeast = 1s;
constexpr Duration kPauseMost = 8s;
constexpr Duration kAttemptMost = 2s;   // an attempt seldom takes longer
constexpr Duration kForgetAfter = 60s;  // exceeds the longest pause and the wait before it
constexpr std::uint16_t kPortBits = 0x3fff;

}  // namespace

std::array<std::uint8_t, 16> gid_of(const IpAddress& ip) {
  if (ip.family == IpFamily::kV6) return ip.bytes;
  std::array<std::uint8_t, 16> gid{};
  gid[10] = gid[11] = 0xff;
  std::copy_n(ip.bytes.begin(), 4, gid.begin() + 12);
  return gid;
}

std::size_t AddressHandles::KeyHash::operator()(const Key& key) const {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  std::memcpy(&high, key.gid.data(), sizeof high);
  std::memcpy(&low, key.gid.data() + sizeof high, sizeof low);
  const std::uint64_t kind = std::uint64_t{key.label} << 16 | key.traffic_class;
  std::uint64_t hash = (high ^ (low * 0x9e3779b97f4a7c15u) ^ kind) * 0xff51afd7ed558ccdu;
  return hash ^ (hash >> 32);
}

AddressHandles::AddressHandles(VerbsCard& card, Options options)
    : card_(card), options_(std::move(options)), hand_(handles_.end()) {}

AddressHandles::Handle* AddressHandles::find(Time now, const IpAddress& to, wire::PathIndex path,
                                             TrafficClass traffic_class) {
  Key key;
  key.gid = gid_of(to);
  key.label = static_cast<std::uint16_t>(path % options_.flow_labels.size());
  key.traffic_class = static_cast<std::uint16_t>(traffic_class);
  Handle*& slot =
      recent_[(std::size_t{key.label} * kTrafficClassCount + key.traffic_class) % recent_.size()];
  if (slot == nullptr || slot->key != key) slot = look_up(key);
  if (slot == nullptr) return nullptr;
  Handle& handle = *slot;
  handle.recent = true;
  if (handle.ah == nullptr && may_try(now, key.gid)) make(now, handle);
  return handle.ah != nullptr ? &handle : nullptr;
}

// `now` stays the same during a burst. The pause therefore begins at the first later time, which
// does not include the wait for the attempt, but kAttemptMost after the failure at the latest.
bool AddressHandles::may_try(Time now, const Gid& gid) {
  const auto found = unreachable_.find(gid);
  if (found == unreachable_.end()) return true;
  Unreachable& peer = found->second;
  if (!peer.retry_at && now > peer.failed_at)
    peer.retry_at = std::min(now, peer.failed_at + kAttemptMost) + peer.pause;
  return peer.retry_at && now >= *peer.retry_at;
}

AddressHandles::Handle* AddressHandles::look_up(const Key& key) {
  auto found = by_key_.find(key);
  if (found == by_key_.end()) {
    if (!make_room()) return nullptr;
    handles_.push_front({});
    handles_.front().key = key;
    found = by_key_.emplace(key, handles_.begin()).first;
  }
  return &*found->second;
}

// The clock hand goes round at most twice, because the first round removes the second chances.
bool AddressHandles::make_room() {
  if (handles_.size() < options_.capacity) return true;
  for (std::size_t steps = 2 * handles_.size(); steps > 0; --steps) {
    if (hand_ == handles_.end()) hand_ = handles_.begin();
    if (hand_->requests == 0 && !std::exchange(hand_->recent, false)) {
      std::ranges::replace(recent_, &*hand_, static_cast<Handle*>(nullptr));
      by_key_.erase(hand_->key);
      hand_ = handles_.erase(hand_);
      return true;
    }
    ++hand_;
  }
  return false;
}

void AddressHandles::make(Time now, Handle& handle) {
  ibv_ah_attr attributes{};
  std::memcpy(attributes.grh.dgid.raw, handle.key.gid.data(), handle.key.gid.size());
  attributes.grh.flow_label = options_.flow_labels[handle.key.label];
  attributes.grh.sgid_index = static_cast<std::uint8_t>(card_.port.gid.index);
  attributes.grh.hop_limit = kHopLimit;
  attributes.grh.traffic_class = options_.tos[handle.key.traffic_class];
  attributes.is_global = 1;
  attributes.port_num = static_cast<std::uint8_t>(card_.port.port);
  handle.ah = {card_.verbs->create_ah(card_.pd.get(), &attributes), {card_.verbs.get()}};
  if (handle.ah != nullptr) {
    ++made_;
    unreachable_.erase(handle.key.gid);
    return;
  }
  std::erase_if(unreachable_,
                [&](const auto& entry) { return now - entry.second.failed_at > kForgetAfter; });
  Unreachable& peer = unreachable_[handle.key.gid];
  peer = {now, std::clamp(2 * peer.pause, kPauseLeast, kPauseMost), std::nullopt};
}

std::uint16_t source_port_of_label(std::uint32_t label) {
  return static_cast<std::uint16_t>(0xc000 | ((label & kPortBits) ^ (label >> 14 & 0x3f)));
}

std::vector<std::uint32_t> flow_labels(std::size_t paths, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<std::uint32_t> labels;
  while (labels.size() < paths) {
    const auto label = static_cast<std::uint32_t>(1 + rng.below(0xfffff));
    const bool fresh = std::ranges::none_of(labels, [&](std::uint32_t other) {
      return source_port_of_label(other) == source_port_of_label(label);
    });
    if (fresh) labels.push_back(label);
  }
  return labels;
}

}  // namespace dlcp::datapath
