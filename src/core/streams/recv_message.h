// One message at its receiver: its request, its received chunks, and its destination.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/endpoint_types.h"
#include "core/packet_size/partial_chunks.h"
#include "util/bitmap.h"
#include "util/byte_range.h"

namespace dlcp::core {

struct RecvMessage {
  bool posted = false;
  bool started = false;  // a packet has arrived: bytes and chunks are known
  bool reported = false;
  bool dropped_here = false;  // a packet was dropped here for lack of room
  RequestId request = 0;
  std::span<std::byte> buffer;
  std::uint32_t bytes = 0;
  std::uint32_t chunk_bytes = 0;  // of each chunk but the last
  std::uint32_t chunks = 0;
  std::uint32_t received = 0;
  std::uint32_t placing = 0;        // placements in progress
  std::uint32_t last = 0;           // the chunk that completed the message, not reported before
  std::uint32_t highest = 0;        // highest chunk received
  std::uint32_t first_missing = 0;  // no chunk below is missing; may lag
  Bitmap present;
  std::uint32_t lost_bytes = 0;
  std::vector<ByteRange> holes;  // if it was completed with holes
  std::vector<std::byte> early;
  std::unique_ptr<PartialChunks> partial;  // of messages whose packets are smaller than chunks

  bool whole() const { return started && received == chunks; }  // no chunk is missing
  bool complete() const { return whole() && placing == 0; }
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
