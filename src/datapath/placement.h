// The types of the second interface of a datapath (placer.h), whose network card writes payloads
// directly into the memory of the receiver (RDMA WRITE WITH IMMEDIATE, one packet per message).
// Such packets have no header of DLCP: a 32-bit number names the packet, and a key permits the
// write. Everything else, for example permissions, travels in ordinary packets (datapath.h).
//
// The rules that make this exact are those of the caller: bytes of a segment do not change between
// the first place() and the final acknowledgement; a receive is complete only after its permission
// is revoked (PermissionEvent::Kind::kRevoked).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "util/time.h"
#include "wire/packet.h"

namespace dlcp::datapath {

// The immediate of a placed packet. The receiver chooses slot and generation for each segment of at
// most kSegmentPacketsMax packets. `index` names a packet of the segment; the datapath does not
// interpret it.
struct PlacedIndex {
  static constexpr unsigned kSlotBits = 14;
  static constexpr unsigned kIndexBits = 10;
  static constexpr std::uint32_t kSlots = 1u << kSlotBits;  // per link
  static constexpr std::uint32_t kSegmentPacketsMax = 1u << kIndexBits;

  std::uint16_t slot = 0;
  std::uint8_t generation = 0;
  std::uint16_t index = 0;

  constexpr std::uint32_t pack() const {
    return std::uint32_t{slot} << 18 | std::uint32_t{generation} << kIndexBits | index;
  }
  static constexpr PlacedIndex unpack(std::uint32_t immediate) {
    return {static_cast<std::uint16_t>(immediate >> 18),
            static_cast<std::uint8_t>(immediate >> kIndexBits),
            static_cast<std::uint16_t>(immediate & (kSegmentPacketsMax - 1))};
  }
  friend bool operator==(const PlacedIndex&, const PlacedIndex&) = default;
};

// The queue pairs that join this datapath and one peer. Never used twice.
enum class LinkId : std::uint32_t { kNone = 0 };
// A permission of this receiver, from permit() until its last event. Never used twice.
enum class PermissionId : std::uint64_t { kNone = 0 };

// Allows the peer of one link to write `bytes` at `address`. The same key does not come back within
// kKeyLifetime after its revocation, so late packets cannot use it.
struct Permission {
  std::uint64_t address = 0;  // in the memory of the receiver
  std::uint32_t key = 0;
  std::uint32_t bytes = 0;
};
inline constexpr Duration kKeyLifetime = 1s;

struct PermissionEvent {
  enum class Kind : std::uint8_t {
    kGranted,  // `permission` may be sent to the peer
    kRefused,  // the memory is not registered, or the card has no room: use ordinary packets
    kRevoked,  // from now on the card does not write there, whatever still arrives
  };
  PermissionId id = PermissionId::kNone;
  Kind kind = Kind::kGranted;
  Permission permission;  // kGranted only
};

// A queue pair of a link. Each class has paths of its own, numbered from 0.
struct LinkPath {
  LinkId link = LinkId::kNone;
  TrafficClass traffic_class = TrafficClass::kExact;
  wire::PathIndex path = 0;
  friend bool operator==(const LinkPath&, const LinkPath&) = default;
};

struct PlacedPacket {
  LinkPath way;
  PlacedIndex index;
  std::uint64_t address = 0;           // the permission's address and the offset of this packet
  std::uint32_t key = 0;               // of the permission
  std::span<const std::byte> payload;  // registered memory, 1 .. payload_bytes_max
};

// Packets with the indexes first.index, first.index + 1, ... of one segment that arrived one after
// the other on one path. A packet that the network or the sender has repeated is reported again.
struct PlacedRun {
  LinkPath way;
  PlacedIndex first;
  std::uint16_t packets = 0;
  std::uint32_t bytes = 0;  // of all packets of the run
  Time arrived_at;
};

// The data that the peer needs for its connect(): opaque to the caller.
struct Introduction {
  static constexpr std::size_t kMaxBytes = 200;
  std::array<std::byte, kMaxBytes> bytes{};
  std::uint8_t size = 0;
  std::span<const std::byte> view() const { return std::span(bytes).first(size); }
};

// The limits of both sides of a connected link; all 0 before.
struct LinkLimits {
  std::uint32_t payload_bytes_max = 0;  // of one packet: the smaller MTU of the two cards
  // Of one path, that may have been sent without an acknowledgement: it can hold them at both ends.
  std::uint32_t packets_per_path_max = 0;
  bool is_reliable = false;  // RC: the caller sends bytes again only after Placer::failures()
};

}  // namespace dlcp::datapath
