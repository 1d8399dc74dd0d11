// A packet that the receiver's card places: it has no header on the wire. In a TxPacket a
// PlacedTarget replaces the header; no other packet has a header of this size.
#pragma once

#include <cstdint>
#include <cstring>

#include "wire/packet.h"

namespace dlcp::wire {

struct PlacedTarget {
  std::uint64_t address = 0;  // of the payload, in the memory of the receiver
  std::uint32_t key = 0;
  std::uint32_t name = 0;  // PlacedName::pack()
  std::uint64_t link = 0;  // as the datapath has named it
};
inline constexpr std::uint8_t kPlacedTargetBytes = sizeof(PlacedTarget);
static_assert(kPlacedTargetBytes < 44, "smaller than the header of a data packet");

inline bool is_placed(const TxPacket& packet) {
  return packet.header_bytes == kPlacedTargetBytes;
}
inline PlacedTarget placed_target(const TxPacket& packet) {
  PlacedTarget target;
  std::memcpy(&target, packet.header.data(), sizeof target);
  return target;
}
inline void set_placed_target(const PlacedTarget& target, TxPacket& packet) {
  std::memcpy(packet.header.data(), &target, sizeof target);
  packet.header_bytes = kPlacedTargetBytes;
}

// Packets that the card has placed: chunks name.chunk, name.chunk + 1, ... of one segment, which
// arrived one after the other on one path. The name of packet i is name + i, with flags of its own.
struct PlacedRun {
  std::uint64_t link = 0;
  PathIndex path = 0;
  std::uint32_t name = 0;  // of the first packet
  std::uint16_t packets = 0;
  std::uint32_t bytes = 0;  // of all packets
  Time arrived_at;
};

}  // namespace dlcp::wire
