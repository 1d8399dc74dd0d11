// One message at its receiver: its request, its received chunks, and its destination.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/endpoint_types.h"
#include "core/packet_size/partial_chunks.h"
#include "util/memory/bitmap.h"
#include "util/memory/byte_range.h"

namespace dlcp::core {

// Copies that one call requests. `memory` has the sources that were kept here until then.
struct PlacementBatch {
  std::vector<Placement> wanted;
  std::vector<std::vector<std::byte>> memory;

  void clear() {
    wanted.clear();
    memory.clear();
  }
};

struct RecvMessage {
  bool posted = false;
  bool placed_later = false;  // its placements are named, and on_placed() reports each
  bool started = false;       // a packet has arrived: bytes and chunks are known
  bool reported = false;
  bool dropped_here = false;  // a packet was dropped here for lack of room
  RequestId request = 0;
  std::span<std::byte> buffer;
  std::uint32_t bytes = 0;
  std::uint32_t chunk_bytes = 0;  // of each chunk but the last
  std::uint32_t chunks = 0;
  std::uint32_t received = 0;
  std::uint32_t placing = 0;        // placements in progress
  bool card_may_write = false;      // the sender's card has, or will have, permissions
  bool undecided = false;           // some of them are neither granted nor refused yet
  bool provisional = false;         // the length is not known yet: `bytes` is that of the buffer
  std::uint32_t highest = 0;        // highest chunk received
  std::uint32_t first_missing = 0;  // no chunk below is missing; may lag
  Bitmap present;
  std::uint32_t lost_bytes = 0;
  std::vector<ByteRange> holes;  // if it was completed with holes
  std::vector<std::byte> early;
  std::unique_ptr<PartialChunks> partial;  // of messages whose packets are smaller than chunks

  // A message of that length is being sent, in chunks of `size` bytes. False if that is impossible.
  bool start(std::uint32_t message_bytes, std::uint32_t size);
  // The first packet of a message of unknown length was placed; resize() follows when its last
  // packet, an ordinary packet or SENT_ONCE tells the length.
  void start_with_buffer(std::uint32_t size);
  bool resize(std::uint32_t message_bytes);

  bool whole() const { return started && received == chunks; }  // no chunk is missing
  bool complete() const { return whole() && placing == 0 && !card_may_write; }
  // All packets have arrived, but are not all placed yet, or the card may still write late copies.
  bool closing() const { return whole() && (placing > 0 || card_may_write); }
};

// Memory for messages without a posted receive, for all connections of the device together. A
// connection may use as much as is free: half of the pool if it is alone.
struct UnpostedPool {
  std::size_t bytes_max = 0;
  std::size_t bytes_used = 0;
};

// The meaning of a packet for its message.
enum class Receipt : std::uint8_t {
  kPlaced,       // new: a placement was appended (none for an empty message)
  kKept,         // new, kept in the pool: its receive is not posted yet
  kDuplicate,    // received before, or its message is complete
  kRepeated,     // the same for a part of a chunk: if one part is lost, all are sent again
  kLate,         // the same for a licensed message: the packet may have been given up
  kNoRoom,       // not posted and no room to keep it; the sender retransmits it
  kOutOfWindow,  // an impossible message number or offset
  kTooLong,      // the message exceeds the posted buffer: the connection fails
};

// A receive that is complete.
struct ReceiveDone {
  RequestId request = 0;
  std::size_t bytes = 0;
  std::size_t lost = 0;
  std::vector<ByteRange> holes;
};

// A message that does not fit into the buffer posted for it.
struct Overflow {
  std::size_t message_bytes = 0;
  std::size_t buffer_bytes = 0;
};

// A packet with a part of a chunk, from byte `begin` of the chunk on.
struct Piece {
  std::uint32_t chunk = 0;
  std::uint32_t begin = 0;
  std::uint32_t chunk_bytes = 0;
  std::span<const std::byte> payload;
};

}  // namespace dlcp::core
