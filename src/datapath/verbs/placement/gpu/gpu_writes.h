// Writes received bytes, or zeros, to registered GPU memory, which the processor cannot access: the
// card reads them from host memory through a queue pair to itself. The memory is the local side of
// this RDMA READ, so it needs no access that a peer could use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "datapath/verbs/device/memory_regions.h"
#include "datapath/verbs/placement/queue_pairs/repaired_queue.h"

namespace dlcp::datapath {

class GpuWrites {
 public:
  static Result<std::unique_ptr<GpuWrites>> open(VerbsCard& card, MemoryRegions& registered,
                                                 PlacementCounters& counters);

  // Begins to write `from`, which is not used after return, or zeros if it is empty. False if the
  // memory is not registered GPU memory, or if the card fails.
  bool start(std::span<std::byte> to, std::span<const std::byte> from);
  // The number of writes that have finished since the last call, in the order of start().
  std::size_t finished(Time now);
  bool has_unfinished() const { return !pieces_.empty(); }
  // The card has failed too often: what was not finished never will be.
  bool is_dead() const { return work_.is_dead(); }
  // True if a write to the memory has not finished.
  bool writes(std::span<const std::byte> memory) const;
  // Ends these writes, which count as finished. Nothing is being written there when this returns.
  void stop(std::span<const std::byte> memory);
  // A registration of the memory is about to end. Writes to memory that no other registration
  // covers count as finished.
  void on_release(std::span<const std::byte> memory);

 private:
  static constexpr std::size_t kPieceBytes = 4096;  // as many as one packet carries
  static constexpr std::size_t kSlots = 256;        // pieces in staging_

  struct Piece {
    std::span<std::byte> to;
    std::vector<std::byte> bytes;  // until there is a slot
    bool is_zero = false;
    bool ends_write = false;
    bool is_done = false;
  };

  GpuWrites(VerbsCard& card, MemoryRegions& registered, PlacementCounters& counters)
      : registered_(registered), counters_(counters), work_(card, counters) {}
  std::byte* slot_of(std::size_t number) { return staging_.data() + number % kSlots * kPieceBytes; }
  void post_waiting();

  MemoryRegions& registered_;
  PlacementCounters& counters_;
  std::vector<std::byte> staging_ = std::vector<std::byte>((kSlots + 1) * kPieceBytes);
  MrPtr staging_mr_;
  RepairedQueue work_;
  std::deque<Piece> pieces_;
  std::size_t first_ = 0;   // number of the first of them
  std::size_t posted_ = 0;  // number of the first that is not posted
};

}  // namespace dlcp::datapath
