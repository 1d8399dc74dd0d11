// Future events, ordered by (time, order of scheduling), so that simultaneous events always run in
// the same order. A sink receives the item that was scheduled with the event, or a null item as a
// wake-up. Near events are in a ring of nanoseconds, the others in a heap. Events move to the ring
// before a new event can be scheduled for the same nanosecond, which preserves the order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "datapath/sim/timeline/near_events.h"
#include "util/time.h"

namespace dlcp::datapath::sim {

template <class Item>
class Timeline {
 public:
  class Sink {
   public:
    virtual ~Sink() = default;
    virtual void on_event(Time now, Item item) = 0;
  };

  Time now() const { return now_; }
  // kNever if no event is scheduled.
  Time next() const {
    if (!near_.empty()) return time_from_ns(near_.first_after(ns_of(now_)));
    return far_.empty() ? kNever : far_.front().at;
  }
  std::size_t pending() const { return near_.size() + far_.size(); }
  // Number of events scheduled since the start.
  std::uint64_t scheduled() const { return next_sequence_; }

  // A time in the past counts as now. The sink must outlive the event.
  void schedule(Time at, Sink& sink, Item item = nullptr) {
    at = std::max(at, now_);
    const std::uint64_t sequence = next_sequence_++;
    if (is_near(at)) {
      near_.push(ns_of(at), {&sink, std::move(item)});
    } else {
      far_.push_back({at, sequence, {&sink, std::move(item)}});
      std::ranges::push_heap(far_, FarEvent::later);
    }
  }

  // Runs the next event if it is due at or before `until`; false if there is none.
  bool run_next(Time until = kNever) {
    const Time at = next();
    if (at > until || pending() == 0) return false;
    advance(at);
    Event event = near_.pop(ns_of(at));
    event.sink->on_event(at, std::move(event.item));
    return true;
  }

  // Runs every event due at or before `until`, then sets the clock to it.
  void run_until(Time until) {
    while (run_next(until)) {
    }
    advance(std::max(now_, until));
  }

 private:
  struct Event {
    Sink* sink = nullptr;
    Item item = nullptr;

    void prefetch() const {
      __builtin_prefetch(item.get());
      __builtin_prefetch(sink);
    }
  };
  struct FarEvent {
    Time at;
    std::uint64_t sequence = 0;
    Event event;

    static bool later(const FarEvent& one, const FarEvent& other) {
      return one.at != other.at ? one.at > other.at : one.sequence > other.sequence;
    }
  };

  bool is_near(Time at) const { return ns_of(at) - ns_of(now_) < NearEvents<Event>::kSpan; }

  void advance(Time to) {
    now_ = to;
    while (!far_.empty() && is_near(far_.front().at)) {
      std::ranges::pop_heap(far_, FarEvent::later);
      near_.push(ns_of(far_.back().at), std::move(far_.back().event));
      far_.pop_back();
    }
  }

  Time now_{};
  std::uint64_t next_sequence_ = 0;
  NearEvents<Event> near_;
  std::vector<FarEvent> far_;
};

}  // namespace dlcp::datapath::sim
