// Memory that the ranks of one machine share with the process that started them, mapped before
// fork: who has moved how much (for the progress display and the time-out), a barrier, the order to
// stop, and for each connection when its messages were handed over, so that a message's time can
// run from the sender's isend to the receiver's test.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace dlcp::cli {

class SharedArea {
 public:
  static constexpr std::size_t kTimes = 1024;  // messages of one connection under way, at most

  struct alignas(64) RankCell {
    std::atomic<std::uint64_t> activity;  // changes whenever the rank gets anywhere
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

  // Waits until `ranks` callers are here; false if told to stop instead.
  bool barrier(int ranks);
  // From now on nobody waits: a rank has failed, and the others are to find out by themselves.
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
