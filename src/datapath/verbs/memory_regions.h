// User memory that the card may read, and the key of each piece, as registered by regMr of the
// connections. Pieces that several connections share are registered once and unregistered with the
// last release. No registration remains after that, so memory that is freed and mapped again is
// never sent under an old registration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "datapath/verbs/verbs_card.h"

namespace dlcp::datapath {

class MemoryRegions {
 public:
  explicit MemoryRegions(VerbsCard& card) : card_(card) {}

  // The caller keeps the memory mapped until the matching release().
  Status add(std::span<std::byte> memory);
  void release(std::span<std::byte> memory);

  // The key of a registration that covers `piece`; nullopt if there is none.
  std::optional<std::uint32_t> key_of(std::span<const std::byte> piece) {
    const Range range = range_of(piece);
    if (range.first >= last_.first && range.second <= last_.second) return last_key_;
    return look_up(range);
  }

 private:
  struct Region {
    MrPtr mr;
    std::size_t users = 0;
  };
  using Range = std::pair<std::uintptr_t, std::uintptr_t>;  // begin, end
  static Range range_of(std::span<const std::byte> memory) {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
    return {begin, begin + memory.size()};
  }
  std::optional<std::uint32_t> look_up(Range piece);

  VerbsCard& card_;
  std::map<Range, Region> regions_;
  std::uintptr_t longest_ = 0;  // longest region so far; bounds the search
  Range last_{};                // the last region found, for the next packet
  std::uint32_t last_key_ = 0;
};

}  // namespace dlcp::datapath
