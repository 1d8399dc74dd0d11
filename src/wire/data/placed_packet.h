// A packet that the receiver's card places: it has no header on the wire. In a TxPacket a
// PlacedTarget replaces the header; no other packet has a header of this size.
#pragma once

#include <bit>
#include <cstddef>
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

// Paths of one class of a link to the receiver's card.
struct LinkPaths {
  static constexpr std::size_t kMax = 64;  // numbers below this

  static constexpr LinkPaths first(std::size_t count) {
    return {count < kMax ? (std::uint64_t{1} << count) - 1 : ~std::uint64_t{0}};
  }
  constexpr bool has(std::size_t path) const { return path < kMax && (bits >> path & 1) != 0; }
  constexpr void add(std::size_t path) { bits |= std::uint64_t{1} << path; }
  constexpr std::size_t count() const { return static_cast<std::size_t>(std::popcount(bits)); }
  constexpr bool empty() const { return bits == 0; }
  friend bool operator==(const LinkPaths&, const LinkPaths&) = default;

  std::uint64_t bits = 0;  // bit p: path p
};

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
