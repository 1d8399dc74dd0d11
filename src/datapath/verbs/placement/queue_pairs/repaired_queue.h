// A WorkQueue that is opened again after a failure. If it fails too often in a row, it is given up.
#pragma once

#include <memory>
#include <utility>

#include "datapath/verbs/placement/queue_pairs/work_queue.h"
#include "datapath/verbs/repair_pause.h"

namespace dlcp::datapath {

class RepairedQueue {
 public:
  RepairedQueue(VerbsCard& card, PlacementCounters& counters) : card_(card), counters_(counters) {}

  Status open() {
    auto work = WorkQueue::open(card_, counters_);
    if (!work) return work.error();
    work_ = std::move(work).value();
    return Unit{};
  }
  // nullptr while it is closed: no request is in progress then.
  WorkQueue* get() const { return work_.get(); }
  // Ends what is in progress; not a failure.
  void close() { work_.reset(); }
  void on_success() { failures_ = 0; }
  // Closes the queue if a request has failed; true if it did.
  bool close_broken() {
    if (work_ == nullptr || !work_->is_broken()) return false;
    ++failures_;
    work_.reset();
    return true;
  }
  void reopen(Time now) {
    if (work_ != nullptr || is_dead() || !pause_.is_over(now)) return;
    pause_.start(now);
    if (!open()) ++failures_;
  }
  // It was given up.
  bool is_dead() const { return failures_ > kFailuresMax; }

 private:
  // Takes a second if every request fails at once (RepairPause), and nine if each waits for the
  // repeats of an RC queue pair.
  static constexpr unsigned kFailuresMax = 16;

  VerbsCard& card_;
  PlacementCounters& counters_;
  std::unique_ptr<WorkQueue> work_;
  unsigned failures_ = 0;  // in a row
  RepairPause pause_;
};

}  // namespace dlcp::datapath
