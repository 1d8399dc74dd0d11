// The header of a data packet, wire version 1. Every data packet describes itself (message, offset,
// length), so that arrival order does not matter.
//
//  byte 0  magic 0xdc | version | type | flags          all frames begin so (FrameHead)
//       4  destination token (64 bits)
//      12  message number (32)      16  message bytes (32)
//      20  offset in bytes (32)     24  sequence on this path (32)
//      28  send time, 128 ns units (32, wraps after 549 s)
//      32  path (8) | traffic class (8) | epoch of the window in use (8) | reply path (8)
//      36  CRC-32C of bytes 0..35
//      40  CRC-32C of the payload, only with kFlagPayloadCrc
// Integers are little-endian. The payload is the rest of the datagram.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dlcp/traffic_class.h"
#include "wire/frame_head.h"

namespace dlcp::wire {

inline constexpr std::size_t kDataHeaderBytes = 40;
inline constexpr std::size_t kPayloadCrcBytes = 4;
// Room that payload sizes are computed with, so that switching the payload CRC on changes no size.
inline constexpr std::size_t kDataOverheadBytes = kDataHeaderBytes + kPayloadCrcBytes;
// Payloads are cut at multiples of this: whole elements of every type and whole LL128 lines.
inline constexpr std::size_t kPayloadGranuleBytes = 128;
// The largest message. Offsets and chunk numbers of one stay far below 2^32, and the bitmap that a
// receiver keeps of it below 1 MiB at the smallest payload.
inline constexpr std::size_t kMessageBytesMax = std::size_t{1} << 30;

struct DataHeader {
  std::uint64_t destination = 0;
  std::uint32_t message = 0;
  std::uint32_t message_bytes = 0;
  std::uint32_t offset = 0;
  std::uint32_t path_sequence = 0;
  std::uint32_t sent_at = 0;
  std::uint8_t path = 0;
  TrafficClass traffic_class = TrafficClass::kExact;
  std::uint8_t window_epoch = 0;
  std::uint8_t reply_path = 0;  // the sender's path on which it last heard the receiver
  bool licensed = false;        // the sender does not send it again unless NEED asks (loss_frame.h)
  bool retransmission = false;  // for counters only
  bool payload_crc = false;
};

// Writes the header; returns its length (40 or 44). `payload` is read only for the payload CRC.
std::size_t encode_data(const DataHeader& header, std::span<const std::byte> payload,
                        std::span<std::byte> out);

struct DataPacket {
  DataHeader header;
  std::span<const std::byte> payload;
};

// Checks magic, version, length and header CRC; the payload's CRC is checked by payload_intact().
// Semantic checks (offset within the message and so on) belong to the receiver.
std::optional<DataPacket> decode_data(std::span<const std::byte> datagram);

// False only when the packet carries a payload CRC that does not match.
bool payload_intact(std::span<const std::byte> datagram, const DataPacket& packet);

// Send time on the wire: 128 ns units, 32 bits.
constexpr std::uint32_t wire_time(Time t) {
  return static_cast<std::uint32_t>(ns_of(t) >> 7);
}
// The time that `stamp` meant, given a moment at most 274 s after or before it.
constexpr Time from_wire_time(std::uint32_t stamp, Time near) {
  const auto behind = static_cast<std::int32_t>(wire_time(near) - stamp);
  return time_from_ns(((ns_of(near) >> 7) - behind) * 128);
}

}  // namespace dlcp::wire
