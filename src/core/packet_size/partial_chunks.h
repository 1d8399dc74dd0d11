// The chunks of a message that arrive in pieces, while packets are smaller than chunks
// (packet_size.h). Records which granules have arrived, so that no byte is written twice even if
// the pieces of retransmissions overlap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "util/memory/bitmap.h"
#include "util/memory/byte_range.h"

namespace dlcp::core {

class PartialChunks {
 public:
  bool contains(std::uint32_t chunk) const { return chunks_.contains(chunk); }
  // Bytes [begin, end) of a chunk of `bytes` have arrived. `begin` is a multiple of a granule;
  // `end` is a multiple of a granule or the chunk's end. Returns the parts that are new.
  std::vector<ByteRange> add(std::uint32_t chunk, std::uint32_t bytes, std::uint32_t begin,
                             std::uint32_t end);
  // True if the chunk is complete; the caller then removes it with erase().
  bool whole(std::uint32_t chunk) const;
  void erase(std::uint32_t chunk) { chunks_.erase(chunk); }

  // The ranges of a chunk of `bytes` that have arrived, and those that have not.
  std::vector<ByteRange> present(std::uint32_t chunk, std::uint32_t bytes) const;
  std::vector<ByteRange> missing(std::uint32_t chunk, std::uint32_t bytes) const;
  // Calls `visit(chunk)` for each incomplete chunk.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [chunk, granules] : chunks_)
      visit(chunk);
  }

 private:
  std::map<std::uint32_t, Bitmap> chunks_;
};

// Whether bytes [begin, end) of a chunk of `bytes` can be one packet's payload.
bool is_piece(std::size_t begin, std::size_t end, std::size_t bytes);

}  // namespace dlcp::core
