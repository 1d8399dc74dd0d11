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

#include "datapath/verbs/memory_regions.h"
#include "datapath/verbs/placement/work_queue.h"
#include "datapath/verbs/repair_pause.h"

namespace dlcp::datapath {

class FlushQueue {
 public:
  static Result<std::unique_ptr<FlushQueue>> open(VerbsCard& card, MemoryRegions& registered,
                                                  PlacementCounters& counters);

  // False if the memory is not registered GPU memory.
  bool start(std::span<const std::byte> memory);
  bool has_unfinished() const { return !flushes_.empty(); }
  // The number of flushes that have finished since the last call, in the order of start().
  std::size_t finished(Time now);
  // The memory's registration is about to end: its flushes count as finished.
  void on_release(std::span<const std::byte> memory);

 private:
  struct Flush {
    std::span<const std::byte> memory;
    std::uint32_t key = 0;
    bool is_posted = false;
    bool is_done = false;
  };

  FlushQueue(VerbsCard& card, MemoryRegions& registered, PlacementCounters& counters)
      : card_(card), registered_(registered), counters_(counters) {}
  void post_waiting();
  void reopen(Time now);

  VerbsCard& card_;
  MemoryRegions& registered_;
  PlacementCounters& counters_;
  std::unique_ptr<WorkQueue> work_;
  std::array<std::byte, 1> landing_{};  // where the reads put their byte
  MrPtr landing_mr_;
  std::deque<Flush> flushes_;
  std::size_t first_ = 0;  // number of the first of them
  RepairPause reopen_pause_;
};

}  // namespace dlcp::datapath
