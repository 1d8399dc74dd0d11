// The frames that prepare messages whose packets a network card places (core/placement), and the
// name of such a packet. Layout as in control_frame.h. A peer without such a card ignores LINK, and
// then gets no other of these frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "wire/frames/control_frame.h"

namespace dlcp::wire {

// The 32 bits that travel with a placed packet instead of a header. The receiver chooses slot and
// generation for each permission: a slot is used again with the next generation.
struct PlacedName {
  static constexpr std::uint32_t kSegmentChunks = 256;
  static constexpr std::uint32_t kSlots = 1u << 14;

  std::uint16_t slot = 0;
  std::uint8_t generation = 0;
  std::uint8_t chunk = 0;     // of the segment, from 0
  bool asks_ack = false;      // as in DataHeader
  bool ends_message = false;  // the last packet of the message, which tells its length

  constexpr std::uint32_t pack() const {
    return std::uint32_t{slot} << 18 | std::uint32_t{generation} << 10 |
           (ends_message ? 1u << 9 : 0) | (asks_ack ? 1u << 8 : 0) | chunk;
  }
  static constexpr PlacedName unpack(std::uint32_t bits) {
    return {static_cast<std::uint16_t>(bits >> 18), static_cast<std::uint8_t>(bits >> 10),
            static_cast<std::uint8_t>(bits), (bits >> 8 & 1) != 0, (bits >> 9 & 1) != 0};
  }
  friend bool operator==(const PlacedName&, const PlacedName&) = default;
};

// Both directions: what the peer's card needs to know to join its queue pairs with those of the
// sender of this frame. Answered by a LINK of the receiver.
struct Link {
  static constexpr FrameType kType = FrameType::kLink;
  static constexpr std::size_t kIntroductionBytesMax = 200;
  std::uint64_t destination = 0;  // token of the association
  std::vector<std::byte> introduction;
};

// Allows the sender to write one segment of a message: the chunks from segment * kSegmentChunks on.
struct Permit {
  std::uint32_t stream = 0;  // the sender's number
  std::uint32_t message = 0;
  std::uint16_t segment = 0;
  std::uint16_t slot = 0;
  std::uint8_t generation = 0;
  std::uint32_t key = 0;
  std::uint64_t address = 0;  // in the memory of the receiver
  std::uint32_t bytes = 0;
  friend bool operator==(const Permit&, const Permit&) = default;
};

// Receiver -> sender, when receives are posted, and again with the next ACK and with answers to
// PROBE. Until a frame arrives, the data travels in ordinary packets.
struct Permits {
  static constexpr FrameType kType = FrameType::kPermits;
  std::uint64_t destination = 0;  // the sender's token of the association
  std::vector<Permit> permits;
};

// Number of permits that fit into a frame of at most `bytes`.
std::size_t permits_max(std::size_t bytes);

template <>
void encode(const Link&, Buffer& out);
template <>
void encode(const Permits&, Buffer& out);
template <>
std::optional<Link> decode(std::span<const std::byte> datagram);
template <>
std::optional<Permits> decode(std::span<const std::byte> datagram);

}  // namespace dlcp::wire
