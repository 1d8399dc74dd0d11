// What of a message's chunks has come in pieces, while packets are smaller than chunks
// (packet_size.h): which granules are there, so that no byte is written twice however the pieces of
// repetitions overlap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "util/bitmap.h"

namespace dlcp::core {

class PartialChunks {
 public:
  struct Run {  // bytes of the chunk
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };

  bool empty() const { return chunks_.empty(); }
  bool contains(std::uint32_t chunk) const { return chunks_.contains(chunk); }
  // Bytes [begin, end) of a chunk of `bytes` have come; `begin` is a multiple of a granule, `end`
  // is one or the chunk's end. Returns what of them is new.
  std::vector<Run> add(std::uint32_t chunk, std::uint32_t bytes, std::uint32_t begin,
                       std::uint32_t end);
  // All of it is there; such a chunk is to be erase()d.
  bool whole(std::uint32_t chunk) const;
  void erase(std::uint32_t chunk) { chunks_.erase(chunk); }

  // Of a chunk of `bytes`: the runs that are there, or those that are not.
  std::vector<Run> present(std::uint32_t chunk, std::uint32_t bytes) const;
  std::vector<Run> missing(std::uint32_t chunk, std::uint32_t bytes) const;
  // Calls `visit(chunk)` for each.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [chunk, granules] : chunks_)
      visit(chunk);
  }

 private:
  std::map<std::uint32_t, Bitmap> chunks_;
};

// Whether a packet can carry bytes [begin, end) of a chunk of `bytes`.
bool is_piece(std::size_t begin, std::size_t end, std::size_t bytes);

}  // namespace dlcp::core
