// The header of a data packet. Every data packet describes itself (message, offset, length), so
// that arrival order does not matter.
//
//  byte 0  magic 0xdc | version | type | flags (bits 0..3, 7) and traffic class (bits 4..6)
//       4  destination: token of the stream (64 bits)
//      12  message number (32)      16  message bytes (32)
//      20  offset in bytes (32)     24  number on this path of the association (32)
//      28  send time, 128 ns units (32, wraps after 549 s)
//      32  path (8) | reply path (8) | epoch of the window in use (16)
//      36  tag: SipHash-1-3 of bytes 0..35, of the number's bits that are not sent (kUnsentBits),
//          and of the payload with Protection::kFull
//          (Protection::kEncrypted: the payload is sealed and has a tag of its own, cipher.h)
// With flag 3 (the message is compressed) there are eight bytes more before the tag, which covers
// them:
//      36  bytes of each of the message's chunks, in granules of 128 (16)
//      38  bytes of the message in this packet (16)
//      40  bytes of the payload that are its code; padding follows (16)
//      42  zero (16)                44  tag
// Integers are little-endian. The payload is the rest of the datagram. The last packet of a message
// may be as long as the others; then zeros follow the message. 44 bytes leave room for 1408
// of payload under IPv6 at an MTU of 1500, where 45 would leave 1280.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dlcp/traffic_class.h"
#include "wire/data/send_time.h"
#include "wire/frame_head.h"
#include "wire/frames/control_frame.h"
#include "wire/keys.h"

namespace dlcp::wire {

inline constexpr std::size_t kDataHeaderBytes = 44;
inline constexpr std::size_t kDataTagOffset = kDataHeaderBytes - kTagBytes;
inline constexpr std::size_t kCodedHeaderBytes = 52;  // of a message that is compressed
// The first three bytes of a data packet, little-endian.
inline constexpr std::uint32_t kDataHead = std::uint32_t{kMagic} |
                                           std::uint32_t{kWireVersion} << 8 |
                                           static_cast<std::uint32_t>(FrameType::kData) << 16;
// Payloads are cut at multiples of this: whole elements of every type and whole LL128 lines.
inline constexpr std::size_t kPayloadGranuleBytes = 128;
// The largest message. Offsets and chunk numbers of one stay far below 2^32, and the bitmap that a
// receiver keeps of it below 1 MiB at the smallest payload.
inline constexpr std::size_t kMessageBytesMax = std::size_t{1} << 30;

// A compressed message is cut into chunks of its own size. A packet holds as many bytes of a chunk
// as fit after compression.
struct Coding {
  std::uint32_t chunk_bytes = 0;  // a multiple of the granule; 0: the message is not compressed
  std::uint32_t plain_bytes = 0;  // of the message in this packet, 1..chunk_bytes
  // Length of the code in the payload, without padding. If equal to plain_bytes, the bytes are not
  // compressed.
  std::uint32_t coded_bytes = 0;

  bool used() const { return chunk_bytes != 0; }
  friend bool operator==(const Coding&, const Coding&) = default;
};
inline constexpr std::uint32_t kCodedChunkBytesMax = 32 << 10;

struct DataHeader {
  std::uint64_t destination = 0;
  std::uint32_t message = 0;
  std::uint32_t message_bytes = 0;
  std::uint32_t offset = 0;
  std::uint32_t path_sequence = 0;
  std::uint32_t sent_at = 0;
  PathIndex path = 0;
  TrafficClass traffic_class = TrafficClass::kExact;
  std::uint16_t window_epoch = 0;
  PathIndex reply_path = 0;     // the sender's path on which it last received a frame
  bool licensed = false;        // retransmitted only if NEED requests it (loss_frame.h)
  bool retransmission = false;  // a licensed one that arrives twice is a duplicate, not late
  bool asks_ack = false;        // the sender is held up: acknowledge at once
  bool copied = false;          // the sender has its own copy: no caller waits for the ACK
  Coding coding;

  std::size_t bytes() const { return coding.used() ? kCodedHeaderBytes : kDataHeaderBytes; }
};

// The shared state of both ends for data packets: the key of this direction, and the tag's
// coverage.
struct DataSeal {
  Key key;
  Protection protection = Protection::kHeader;
};

// Writes the header, DataHeader::bytes() long. `number` is always the full value of path_sequence,
// for the tag. `payload` is read only if the tag covers it.
void encode_data(const DataHeader& header, std::uint64_t number, std::span<const std::byte> payload,
                 const DataSeal& seal, std::span<std::byte> out);

struct DataPacket {
  DataHeader header;
  std::span<const std::byte> payload;
};

// Checks magic, version and length only: call authentic() before using the result. The receiver
// checks the meaning (offset within the message and so on).
bool decode_data(std::span<const std::byte> datagram, DataPacket& packet);
inline std::optional<DataPacket> decode_data(std::span<const std::byte> datagram) {
  DataPacket packet;
  return decode_data(datagram, packet) ? std::optional(packet) : std::nullopt;
}
// Length of the header at the beginning of a non-empty datagram of type data.
std::size_t data_header_bytes(std::span<const std::byte> datagram);
// Requires a datagram that decode_data accepted.
bool authentic(std::span<const std::byte> datagram, const DataSeal& seal, std::uint64_t number);

}  // namespace dlcp::wire
