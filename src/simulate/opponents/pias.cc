#include "simulate/opponents/pias.h"

#include <algorithm>
#include <utility>

namespace dlcp::simulate {

void StrictLevels::admit(PacketPtr packet) {
  if (bytes_ + packet->wire_bytes > limit_bytes_) {
    ++counters_.dropped;
    return;
  }
  if (bytes_ > mark_bytes_ && (packet->ecn == Ecn::kEct0 || packet->ecn == Ecn::kEct1)) {
    packet->ecn = Ecn::kCe;
    ++counters_.marked;
  }
  bytes_ += packet->wire_bytes;
  counters_.deepest_bytes = std::max(counters_.deepest_bytes, bytes_);
  const std::size_t level = std::min<std::size_t>(packet->level, kPiasLevels - 1);
  levels_[level].push(std::move(packet));
}

PacketPtr StrictLevels::next() {
  if (paused_) return nullptr;
  for (PacketRing& level : levels_) {
    if (level.empty()) continue;
    PacketPtr packet = level.pop();
    bytes_ -= packet->wire_bytes;
    return packet;
  }
  return nullptr;
}

void PiasTransport::dress(std::uint32_t, Packet& packet) {
  const std::uint64_t sent = std::uint64_t{packet.before} * payload_bytes();
  std::uint64_t end = pias_.first_level_bytes;
  while (packet.level + 1u < kPiasLevels && sent >= end) {
    ++packet.level;
    end *= 4;
  }
}

}  // namespace dlcp::simulate
