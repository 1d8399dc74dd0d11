#include "datapath/verbs/placement/gpu/flush_queue.h"

#include <algorithm>

#include "util/memory/overlap.h"

namespace dlcp::datapath {

Result<std::unique_ptr<FlushQueue>> FlushQueue::open(VerbsCard& card, MemoryRegions& registered,
                                                     PlacementCounters& counters) {
  std::unique_ptr<FlushQueue> flushes(new FlushQueue(card, registered, counters));
  flushes->landing_mr_ = {card.verbs->reg_mr(card.pd.get(), flushes->landing_.data(),
                                             flushes->landing_.size(), IBV_ACCESS_LOCAL_WRITE),
                          {card.verbs.get()}};
  if (flushes->landing_mr_ == nullptr) return verbs_error("register memory", card.port, 0);
  if (auto opened = flushes->work_.open(); !opened) return opened.error();
  return flushes;
}

bool FlushQueue::start(std::span<const std::byte> memory) {
  if (registered_.gpu_region_of(memory) == nullptr) return false;
  flushes_.push_back({memory});
  post_waiting();
  return true;
}

// The key is that of the registration that covers the memory now.
void FlushQueue::post_waiting() {
  WorkQueue* const work = work_.get();
  for (std::size_t i = 0; i < flushes_.size() && work != nullptr && work->has_room(); ++i) {
    Flush& flush = flushes_[i];
    if (flush.is_posted || flush.is_done) continue;
    const ibv_mr* const region = registered_.gpu_region_of(flush.memory);
    flush.is_done = region == nullptr;  // released meanwhile
    if (flush.is_done) continue;
    flush.is_posted =
        work->read(landing_, landing_mr_->lkey,
                   reinterpret_cast<std::uintptr_t>(flush.memory.data()), region->rkey, first_ + i);
  }
}

std::size_t FlushQueue::finished(Time now) {
  while (work_.get() != nullptr) {
    const auto done = work_.get()->next();
    if (!done) break;
    if (!done->succeeded) continue;
    work_.on_success();
    flushes_[done->token - first_].is_done = true;
  }
  if (work_.close_broken()) on_queue_closed();
  work_.reopen(now);
  post_waiting();
  std::size_t count = 0;
  for (; !flushes_.empty() && flushes_.front().is_done; flushes_.pop_front())
    ++count;
  first_ += count;
  return count;
}

// A read may be repeated.
void FlushQueue::on_queue_closed() {
  for (Flush& flush : flushes_)
    flush.is_posted = false;
}

// Another registration may cover the memory, so its flushes are begun again.
void FlushQueue::on_release(std::span<const std::byte> memory) {
  const bool any = std::ranges::any_of(flushes_, [&](const Flush& flush) {
    return !flush.is_done && overlap(flush.memory, memory);
  });
  if (!any) return;
  work_.close();
  on_queue_closed();
}

}  // namespace dlcp::datapath
