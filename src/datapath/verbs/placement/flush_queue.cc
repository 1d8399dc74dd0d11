#include "datapath/verbs/placement/flush_queue.h"

#include <utility>

namespace dlcp::datapath {

Result<std::unique_ptr<FlushQueue>> FlushQueue::open(VerbsCard& card, MemoryRegions& registered,
                                                     PlacementCounters& counters) {
  std::unique_ptr<FlushQueue> flushes(new FlushQueue(card, registered, counters));
  flushes->landing_mr_ = {card.verbs->reg_mr(card.pd.get(), flushes->landing_.data(),
                                             flushes->landing_.size(), IBV_ACCESS_LOCAL_WRITE),
                          {card.verbs.get()}};
  if (flushes->landing_mr_ == nullptr) return verbs_error("register memory", card.port, 0);
  auto work = WorkQueue::open(card, counters);
  if (!work) return work.error();
  flushes->work_ = std::move(work).value();
  return flushes;
}

bool FlushQueue::start(std::span<const std::byte> memory) {
  const ibv_mr* const region = registered_.gpu_region_of(memory);
  if (region == nullptr) return false;
  flushes_.push_back({memory, region->rkey});
  post_waiting();
  return true;
}

void FlushQueue::post_waiting() {
  for (std::size_t i = 0; i < flushes_.size() && work_->has_room(); ++i) {
    Flush& flush = flushes_[i];
    if (flush.is_posted || flush.is_done) continue;
    flush.is_posted =
        work_->read(landing_, landing_mr_->lkey,
                    reinterpret_cast<std::uintptr_t>(flush.memory.data()), flush.key, first_ + i);
    if (!flush.is_posted) return;
  }
}

std::size_t FlushQueue::finished(Time now) {
  while (const auto done = work_->next()) {
    if (done->token < first_) continue;  // released before it was done
    Flush& flush = flushes_[done->token - first_];
    flush.is_done = flush.is_done || done->succeeded;
    flush.is_posted = false;
  }
  reopen(now);
  post_waiting();
  std::size_t count = 0;
  for (; !flushes_.empty() && flushes_.front().is_done; flushes_.pop_front())
    ++count;
  first_ += count;
  return count;
}

// A read may be repeated.
void FlushQueue::reopen(Time now) {
  if (!work_->is_broken() || !reopen_pause_.is_over(now)) return;
  reopen_pause_.start(now);
  if (auto again = WorkQueue::open(card_, counters_)) work_ = std::move(again).value();
}

void FlushQueue::on_release(std::span<const std::byte> memory) {
  for (Flush& flush : flushes_)
    flush.is_done = flush.is_done || (flush.memory.data() < memory.data() + memory.size() &&
                                      memory.data() < flush.memory.data() + flush.memory.size());
}

}  // namespace dlcp::datapath
