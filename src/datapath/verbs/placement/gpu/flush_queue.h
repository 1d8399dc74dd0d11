// Makes data that the card has written into GPU memory visible to the GPU: a read of one byte by
// the same card, whose answer cannot pass the earlier writes on the way to the GPU. Some platforms
// need this before a GPU may use received data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>

#include "datapath/verbs/device/memory_regions.h"
#include "datapath/verbs/placement/queue_pairs/repaired_queue.h"

namespace dlcp::datapath {

class FlushQueue {
 public:
  static Result<std::unique_ptr<FlushQueue>> open(VerbsCard& card, MemoryRegions& registered,
                                                  PlacementCounters& counters);

  // False if the memory is not registered GPU memory.
  bool start(std::span<const std::byte> memory);
  // The card has failed too often: what is not finished never will be.
  bool is_dead() const { return work_.is_dead(); }
  bool has_unfinished() const { return !flushes_.empty() && !is_dead(); }
  // The number of flushes that have finished since the last call, in the order of start().
  std::size_t finished(Time now);
  // A registration of the memory is about to end. Flushes of memory that no other registration
  // covers count as finished.
  void on_release(std::span<const std::byte> memory);

 private:
  struct Flush {
    std::span<const std::byte> memory;
    bool is_posted = false;
    bool is_done = false;
  };

  FlushQueue(VerbsCard& card, MemoryRegions& registered, PlacementCounters& counters)
      : registered_(registered), work_(card, counters) {}
  void post_waiting();
  void on_queue_closed();

  MemoryRegions& registered_;
  std::array<std::byte, 1> landing_{};  // where the reads put their byte
  MrPtr landing_mr_;
  RepairedQueue work_;
  std::deque<Flush> flushes_;
  std::size_t first_ = 0;  // number of the first of them
};

}  // namespace dlcp::datapath
