#include "cli/launch/processes/shared_area.h"

#include <sched.h>
#include <sys/mman.h>

#include <new>

namespace dlcp::cli {

SharedArea::SharedArea(int ranks, std::size_t wires)
    : bytes_(64 + static_cast<std::size_t>(ranks) * sizeof(RankCell) +
             wires * kTimes * sizeof(std::atomic<std::int64_t>)) {
  memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory_ == MAP_FAILED) throw std::bad_alloc();
  auto* at = static_cast<std::byte*>(memory_);  // zeroed by the system
  head_ = reinterpret_cast<Head*>(at);
  cells_ = reinterpret_cast<RankCell*>(at + 64);
  times_ = reinterpret_cast<std::atomic<std::int64_t>*>(cells_ + ranks);
}

SharedArea::~SharedArea() {
  munmap(memory_, bytes_);
}

bool SharedArea::barrier(int ranks) {
  const std::uint32_t generation = head_->generation.load(std::memory_order_acquire);
  if (head_->arrived.fetch_add(1) + 1 == static_cast<std::uint32_t>(ranks)) {
    head_->arrived.store(0);
    head_->generation.fetch_add(1, std::memory_order_release);
    return !stopped();
  }
  while (head_->generation.load(std::memory_order_acquire) == generation) {
    if (stopped()) return false;
    if (head_->open.load(std::memory_order_acquire) != 0) break;
    sched_yield();
  }
  return true;
}

}  // namespace dlcp::cli
