// User memory that the card may access, and the key of each piece, as registered by regMr of the
// connections: of the host or of a GPU. Pieces that several connections share are registered once
// and unregistered with the last release. No registration remains after that, so memory that is
// freed and mapped again is never sent under an old registration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "datapath/gpu_memory.h"
#include "datapath/verbs/device/verbs_card.h"
#include "util/system/fd.h"

namespace dlcp::datapath {

class MemoryRegions {
 public:
  // If `bindable`, memory windows can be bound in the regions.
  explicit MemoryRegions(VerbsCard& card, bool bindable = false)
      : card_(card), bindable_(bindable) {}

  // The caller keeps the memory mapped until the matching release(), which follows a failure too:
  // the next add() of the same range tries to register it again.
  Status add(std::span<std::byte> memory);
  // Fails if this range is registered as memory of another kind. No release() follows a failure.
  Status add(const GpuMemory& memory);
  void release(std::span<std::byte> memory);

  // The key of a registration that covers `piece`; nullopt if there is none.
  std::optional<std::uint32_t> key_of(std::span<const std::byte> piece) {
    const Range range = range_of(piece);
    if (range.first >= last_.first && range.second <= last_.second) return last_key_;
    return look_up(range);
  }
  // The registration that covers `piece`, if windows can be bound in it; nullptr if not.
  ibv_mr* bindable_region_of(std::span<const std::byte> piece);
  // True if the processor cannot read `piece`.
  bool is_on_gpu(std::span<const std::byte> piece) {
    return gpu_regions_ > 0 && gpu_region_of(piece) != nullptr;
  }
  // The registration that covers `piece` of GPU memory; nullptr if there is none.
  ibv_mr* gpu_region_of(std::span<const std::byte> piece);
  // True if the piece is in GPU memory whose registration has ended, and no memory was registered
  // there since.
  bool was_on_gpu(std::span<const std::byte> piece) const;
  // A further registration of a piece, as memory of the same kind. Null if it is not registered,
  // or the card refuses.
  MrPtr register_piece(std::span<std::byte> piece, int access);

 private:
  enum class Kind : std::uint8_t { kHost, kDmaBuf, kPeerMemory };
  struct Region {
    MrPtr mr;  // null if the registration of host memory has failed
    std::size_t users = 0;
    Kind kind = Kind::kHost;
    bool is_bindable = false;
    Fd dma_buf;  // its own descriptor
    std::uint64_t offset = 0;
  };
  using Range = std::pair<std::uintptr_t, std::uintptr_t>;  // begin, end
  static Range range_of(std::span<const std::byte> memory) {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
    return {begin, begin + memory.size()};
  }
  using Regions = std::map<Range, Region>;
  void forget_past_gpu(std::span<const std::byte> memory);
  Region* find_or_make(std::span<std::byte> memory, Kind kind);
  Status use(std::span<std::byte> memory, Region& region);
  MrPtr register_with(const Region& region, std::span<std::byte> memory, std::uint64_t offset,
                      int access);
  Regions::const_iterator find(Range piece) const;  // one that covers the piece
  std::optional<std::uint32_t> look_up(Range piece);

  VerbsCard& card_;
  const bool bindable_;
  Regions regions_;
  std::size_t gpu_regions_ = 0;
  std::vector<std::span<const std::byte>> past_gpu_;  // for was_on_gpu()
  std::uintptr_t longest_ = 0;                        // longest region so far; bounds the search
  Range last_{};                                      // the last region found, for the next packet
  std::uint32_t last_key_ = 0;
};

}  // namespace dlcp::datapath
