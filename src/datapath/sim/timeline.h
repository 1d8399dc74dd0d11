// What will happen, ordered by (time, order of scheduling), so that two events of the same instant
// always run in the same order. A sink gets the item that was scheduled with the event, or a null
// one as a wake-up. A heap of four children a node: half as deep as one of two, and the four lie
// beside each other in memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

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
  // kNever when nothing is scheduled.
  Time next() const { return heap_.empty() ? kNever : heap_.front().at; }
  std::size_t pending() const { return heap_.size(); }
  // Events that have been scheduled since the beginning.
  std::uint64_t scheduled() const { return next_sequence_; }

  // A moment in the past is taken as now. The sink must outlive the event.
  void schedule(Time at, Sink& sink, Item item = nullptr) {
    heap_.emplace_back();
    rise({std::max(at, now_), next_sequence_++, &sink, std::move(item)});
  }

  // Runs the next event. False when there is none.
  bool run_next() {
    if (heap_.empty()) return false;
    Event event = std::move(heap_.front());
    Event last = std::move(heap_.back());
    heap_.pop_back();
    if (!heap_.empty()) sink_down(std::move(last));
    now_ = event.at;
    event.sink->on_event(now_, std::move(event.item));
    return true;
  }

  // Runs every event due at or before `until`, then sets the clock to it.
  void run_until(Time until) {
    while (next() <= until && run_next()) {
    }
    now_ = std::max(now_, until);
  }

 private:
  static constexpr std::size_t kChildren = 4;

  struct Event {
    Time at;
    std::uint64_t sequence = 0;
    Sink* sink = nullptr;
    Item item = nullptr;

    bool before(const Event& other) const {
      return at != other.at ? at < other.at : sequence < other.sequence;
    }
  };

  // Puts the event where it belongs, above the empty last place.
  void rise(Event event) {
    std::size_t place = heap_.size() - 1;
    while (place > 0) {
      const std::size_t parent = (place - 1) / kChildren;
      if (!event.before(heap_[parent])) break;
      heap_[place] = std::move(heap_[parent]);
      place = parent;
    }
    heap_[place] = std::move(event);
  }

  // Puts the event where it belongs, below the empty first place.
  void sink_down(Event event) {
    std::size_t place = 0;
    for (;;) {
      const std::size_t first = place * kChildren + 1;
      if (first >= heap_.size()) break;
      const std::size_t end = std::min(first + kChildren, heap_.size());
      std::size_t least = first;
      for (std::size_t child = first + 1; child < end; ++child)
        if (heap_[child].before(heap_[least])) least = child;
      if (!heap_[least].before(event)) break;
      heap_[place] = std::move(heap_[least]);
      place = least;
    }
    heap_[place] = std::move(event);
  }

  Time now_{};
  std::uint64_t next_sequence_ = 0;
  std::vector<Event> heap_;
};

}  // namespace dlcp::datapath::sim
