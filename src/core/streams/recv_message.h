// One message at its receiver: whose it is, what of it is there, and where it goes.
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
  bool started = false;  // a packet has come: bytes and chunks are known
  bool reported = false;
  bool dropped_here = false;  // a packet came and there was no room for it
  RequestId request = 0;
  std::span<std::byte> buffer;
  std::uint32_t bytes = 0;
  std::uint32_t chunk_bytes = 0;  // of each chunk but the last
  std::uint32_t chunks = 0;
  std::uint32_t received = 0;
  std::uint32_t placing = 0;        // placements under way
  std::uint32_t last = 0;           // chunk that made it whole, not reported before
  std::uint32_t highest = 0;        // chunk
  std::uint32_t first_missing = 0;  // no chunk below is missing; may lag
  Bitmap present;
  std::uint32_t lost_bytes = 0;
  std::vector<ByteRange> holes;  // once it was completed with some
  std::vector<std::byte> early;
  std::unique_ptr<PartialChunks> partial;  // of messages that come in smaller packets than agreed

  bool whole() const { return started && received == chunks; }  // nothing of it is missing
  bool complete() const { return whole() && placing == 0; }
};

// A message that does not fit the buffer posted for it.
struct Overflow {
  std::size_t message_bytes = 0;
  std::size_t buffer_bytes = 0;
};

// A packet that carries a part of a chunk, from byte `begin` of it on.
struct Piece {
  std::uint32_t chunk = 0;
  std::uint32_t begin = 0;
  std::uint32_t chunk_bytes = 0;
  std::span<const std::byte> payload;
};

}  // namespace dlcp::core
