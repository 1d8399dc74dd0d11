// Counts for one block how many contributions to each of its cells arrived. It costs nothing as
// long as nothing is lost.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collective/reduce/reduce.h"
#include "util/memory/byte_range.h"

namespace dlcp::collective {

class LossCounts {
 public:
  // The payload of a packet is a multiple of it, except in the last packet of a message.
  static constexpr std::size_t kCellBytes = 128;

  // `lost` are the ranges that one rank's contribution lost, in ascending order and without
  // overlap. `block_bytes` and `ranks` describe the block and must be the same in each call.
  void add(std::span<const ByteRange> lost, std::size_t block_bytes, std::uint32_t ranks) {
    if (lost.empty()) return;
    present_.resize((block_bytes + kCellBytes - 1) / kCellBytes, static_cast<std::uint16_t>(ranks));
    std::size_t cell = 0;
    for (const ByteRange& range : lost) {
      const std::size_t end = std::min((range.end + kCellBytes - 1) / kCellBytes, present_.size());
      for (cell = std::max(cell, range.begin / kCellBytes); cell < end; ++cell)
        --present_[cell];
    }
  }
  bool any() const { return !present_.empty(); }
  CellCounts counts() const { return {present_, kCellBytes}; }

 private:
  std::vector<std::uint16_t> present_;
};

}  // namespace dlcp::collective
