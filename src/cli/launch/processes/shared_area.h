// Memory that the ranks of one machine share with the process that started them, mapped before
// fork: each rank's progress (for the display and the time-out), a barrier, the order to stop, and
// the time of each message's isend, from which the receiver computes how long the message took.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace dlcp::cli {

class SharedArea {
 public:
  static constexpr std::size_t kTimes = 1024;  // messages of one connection under way, at most

  struct alignas(64) RankCell {
    std::atomic<std::uint64_t> activity;  // changes whenever the rank makes progress
    std::atomic<std::uint64_t> bytes;     // payload received
  };

  SharedArea(int ranks, std::size_t wires);
  ~SharedArea();
  SharedArea(const SharedArea&) = delete;
  SharedArea& operator=(const SharedArea&) = delete;

  RankCell& rank(int i) { return cells_[i]; }
  std::atomic<std::int64_t>* times(std::size_t wire) { return times_ + wire * kTimes; }

  void stop() { head_->stop.store(1, std::memory_order_release); }
  bool stopped() const { return head_->stop.load(std::memory_order_acquire) != 0; }

  // A number that rank 0 sets before a barrier and the others read after it.
  std::atomic<std::uint64_t>& agreed() { return head_->agreed; }

  // Waits until `ranks` callers have come; returns false if told to stop.
  bool barrier(int ranks);
  // Lets all ranks pass all barriers from now on: one has failed, and the others have to detect
  // that through the plugin.
  void open_barriers() { head_->open.store(1, std::memory_order_release); }

 private:
  struct Head {
    std::atomic<std::uint32_t> stop;
    std::atomic<std::uint32_t> open;
    std::atomic<std::uint32_t> arrived;
    std::atomic<std::uint32_t> generation;
    std::atomic<std::uint64_t> agreed;
  };
  void* memory_;
  std::size_t bytes_;
  Head* head_;
  RankCell* cells_;
  std::atomic<std::int64_t>* times_;
};

}  // namespace dlcp::cli
