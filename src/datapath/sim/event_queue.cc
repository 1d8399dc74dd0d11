#include "datapath/sim/event_queue.h"

#include <algorithm>
#include <utility>

namespace dlcp::datapath::sim {

void EventQueue::schedule(Time at, EventSink& sink, FramePtr frame) {
  heap_.push_back({std::max(at, now_), next_sequence_++, &sink, std::move(frame)});
  std::push_heap(heap_.begin(), heap_.end(), later);
}

void EventQueue::run_until(Time until) {
  while (!heap_.empty() && heap_.front().at <= until) {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    Event event = std::move(heap_.back());
    heap_.pop_back();
    now_ = event.at;
    event.sink->on_event(now_, std::move(event.frame));
  }
  now_ = std::max(now_, until);
}

}  // namespace dlcp::datapath::sim
