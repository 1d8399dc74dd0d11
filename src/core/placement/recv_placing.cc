#include "core/placement/recv_placing.h"

#include <algorithm>
#include <utility>

#include "util/check.h"

namespace dlcp::core {
namespace {

// Segments of one message that may have a permission at a time; the rest travels in ordinary
// packets. 16 MiB in packets of 4 KiB, more than NCCL's largest buffer.
constexpr std::uint32_t kSegmentsMax = 16;
// NCCL posts whole slots also for short messages, and compressed messages are never placed. After
// this many permissions in a row that were not used, only one in this many messages gets some,
// except in device memory, where a packet that is not placed costs more than unused permissions.
constexpr unsigned kUnusedMax = 32;
// A failed attempt to connect may take two seconds; LINKs that the sender has repeated meanwhile do
// not repeat it. Shorter than the sender's pause after a failure.
constexpr Duration kRetryPause = 3s;

}  // namespace

RecvPlacing::~RecvPlacing() {
  for (const Slot& slot : slots_)
    links_.by_permission.erase(slot.id);
  if (link_ == 0) return;
  links_.by_link.erase(link_);
  card_.close_link(link_);
}

bool RecvPlacing::on_link(Time now, const wire::EndpointAddress& peer, const wire::Link& frame) {
  if (link_ == 0) link_ = card_.open_link(peer, Duration::zero());
  if (link_ == 0) return false;
  links_.by_link[link_] = token_;
  link_due_ = true;
  if (now < connect_after_) return true;
  const bool connected = card_.connect(link_, frame.introduction);  // if false, some paths may work
  if (!connected) connect_after_ = now + kRetryPause;
  connected_ = connected || connected_ || !card_.paths(link_, TrafficClass::kExact).empty();
  return true;
}

// ---- permissions ----

bool RecvPlacing::permit(RecvStream& stream, std::uint64_t message, std::uint32_t stream_number,
                         std::span<std::byte> buffer, std::uint32_t chunk_bytes) {
  const std::size_t segment_bytes = std::size_t{wire::PlacedName::kSegmentChunks} * chunk_bytes;
  OfStream& of = streams_[&stream];
  if (of.unused >= kUnusedMax && message % kUnusedMax != 0 && !card_.is_device_memory(buffer))
    return false;
  Slots& slots = of.messages[message];
  std::uint32_t count = 0;
  for (std::size_t at = 0; at < buffer.size() && count < kSegmentsMax; at += segment_bytes) {
    if (free_.empty()) {
      if (slots_.size() == wire::PlacedName::kSlots) break;
      free_.push_back(static_cast<std::uint16_t>(slots_.size()));
      slots_.emplace_back();
    }
    const std::uint16_t index = free_.back();
    const auto memory = buffer.subspan(at, std::min(segment_bytes, buffer.size() - at));
    Slot& slot = slots_[index];
    slot.id = card_.permit(link_, memory);
    if (slot.id == 0) break;
    free_.pop_back();
    slot.use = {&stream, message, count * wire::PlacedName::kSegmentChunks};
    slot.decided = slot.revoking = slot.told = slot.used = false;
    ++slot.generation;
    slot.permit = {.stream = stream_number,
                   .message = static_cast<std::uint32_t>(message),
                   .segment = static_cast<std::uint16_t>(count),
                   .slot = index,
                   .generation = slot.generation,
                   .bytes = static_cast<std::uint32_t>(memory.size())};
    slots.push_back(index);
    links_.by_permission[slot.id] = {token_, index};
    ++count;
  }
  if (slots.empty()) of.messages.erase(message);
  return count > 0;
}

void RecvPlacing::revoke(Slot& slot) {
  if (slot.id == 0 || std::exchange(slot.revoking, true)) return;
  card_.revoke(slot.id);
}

bool RecvPlacing::revoke(const RecvStream& stream, std::uint64_t message) {
  const auto of = streams_.find(&stream);
  if (of == streams_.end()) return false;
  const auto found = of->second.messages.find(message);
  if (found == of->second.messages.end()) return false;
  for (const std::uint16_t index : Slots(found->second)) {
    revoke(slots_[index]);
    if (!slots_[index].told) forget(slots_[index], index, true);
  }
  return !of->second.messages.contains(message);
}

void RecvPlacing::leave(const RecvStream& stream) {
  const auto of = streams_.find(&stream);
  if (of == streams_.end()) return;
  for (const auto& [message, slots] : of->second.messages) {
    for (const std::uint16_t index : slots) {
      slots_[index].use.stream = nullptr;
      revoke(slots_[index]);
    }
  }
  streams_.erase(of);
}

// The permission in this slot does not concern its message any more.
void RecvPlacing::forget(Slot& slot, std::uint16_t index, bool revoked) {
  const Use use = std::exchange(slot.use, {});
  OfStream& of = streams_[use.stream];
  const auto found = of.messages.find(use.message);
  check(found != of.messages.end(), "a permission must be listed under its message");
  std::erase(found->second, index);
  if (found->second.empty()) of.messages.erase(found);
  if (revoked) of.unused = slot.used ? 0 : of.unused + 1;
}

std::optional<RecvPlacing::Outcome> RecvPlacing::on_event(const PermissionEvent& event) {
  const auto found = links_.by_permission.find(event.id);
  if (found == links_.by_permission.end()) return std::nullopt;
  const std::uint16_t index = found->second.slot;
  Slot& slot = slots_[index];
  const Use use = slot.use;
  Outcome outcome{use, !std::exchange(slot.decided, true)};
  if (event.kind == PermissionEvent::Kind::kGranted) {
    if (slot.revoking) return std::nullopt;
    slot.permit.address = event.address;
    slot.permit.key = event.key;
    granted_.push_back(slot.permit);
  } else {
    links_.by_permission.erase(found);
    slot.id = 0;
    // The sender takes a generation that is more than 127 ahead of the last one for an old one. No
    // packet can have this one.
    if (!slot.told) {
      --slot.generation;
      std::erase_if(granted_, [&](const wire::Permit& permit) { return permit.slot == index; });
    }
    free_.push_back(index);
    if (use.stream == nullptr) return std::nullopt;
    forget(slot, index, event.kind == PermissionEvent::Kind::kRevoked);
    outcome.ended = true;
  }
  const auto& messages = streams_[use.stream].messages;
  if (const auto rest = messages.find(use.message); rest != messages.end()) {
    outcome.left = rest->second.size();
    for (const std::uint16_t other : rest->second)
      outcome.all_decided = outcome.all_decided && slots_[other].decided;
  }
  return outcome;
}

const RecvPlacing::Use* RecvPlacing::find(std::uint32_t name) const {
  const auto placed = wire::PlacedName::unpack(name);
  if (placed.slot >= slots_.size()) return nullptr;
  const Slot& slot = slots_[placed.slot];
  const bool alive = slot.generation == placed.generation && slot.use.stream != nullptr;
  return alive ? &slot.use : nullptr;
}

// ---- acknowledgements, and to the network ----

void RecvPlacing::note(const wire::PlacedRun& run) {
  slots_[wire::PlacedName::unpack(run.name).slot].used = true;
  if (run.path >= newest_.size()) newest_.resize(run.path + std::size_t{1});
  newest_[run.path] = {true, run.name + run.packets - 1, run.arrived_at};
}

bool RecvPlacing::report(Time now, wire::Ack& ack) {
  for (std::size_t path = 0; path < newest_.size(); ++path) {
    Newest& newest = newest_[path];
    if (!newest.changed) continue;
    if (ack.placed.size() == kPathReportsMax) return false;
    newest.changed = false;
    ack.placed.push_back(
        {static_cast<wire::PathIndex>(path), newest.name, held(newest.arrived_at, now)});
  }
  return true;
}

std::size_t RecvPlacing::poll_transmit(const Recipient& to, const AnswerPath& on, bool with_ack,
                                       FrameWriter& frames, std::span<wire::TxPacket> out) {
  std::size_t count = 0;
  if (link_due_ && count < out.size()) {
    frames.emit(wire::Link{to.token, card_.introduction(link_)}, on.path, *to.address,
                out[count++]);
    link_due_ = false;
  }
  const auto send = [&](std::vector<wire::Permit>& permits, wire::PathIndex path) {
    std::erase_if(permits, [&](const wire::Permit& permit) {
      const Slot& slot = slots_[permit.slot];
      return slot.generation != permit.generation || slot.id == 0 || slot.revoking;
    });
    std::span<const wire::Permit> left = permits;
    while (!left.empty() && count < out.size()) {
      const auto some = left.first(std::min(wire::permits_max(on.frame_bytes), left.size()));
      for (const wire::Permit& permit : some)
        slots_[permit.slot].told = true;
      frames.emit(wire::Permits{to.token, {some.begin(), some.end()}}, path, *to.address,
                  out[count++]);
      left = left.subspan(some.size());
    }
    return permits.begin() + static_cast<std::ptrdiff_t>(permits.size() - left.size());
  };
  if (with_ack) {
    if (std::exchange(is_asked_, false)) {
      sent_.clear();
      for (const Slot& slot : slots_)
        if (slot.told && !slot.used) sent_.push_back(slot.permit);
    }
    send(sent_, on.next());
    sent_.clear();
  }
  const auto end = send(granted_, on.path);
  sent_.insert(sent_.end(), granted_.begin(), end);
  granted_.erase(granted_.begin(), end);
  return count;
}

}  // namespace dlcp::core
