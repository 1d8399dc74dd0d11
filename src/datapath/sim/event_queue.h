// Simulated time: what will happen, ordered by (time, order of scheduling), so that two events of
// the same instant always run in the same order. A sink gets a frame, or a null frame as a wake-up.
#pragma once

#include <cstdint>
#include <vector>

#include "datapath/sim/frame.h"
#include "util/time.h"

namespace dlcp::datapath::sim {

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void on_event(Time now, FramePtr frame) = 0;
};

class EventQueue {
 public:
  Time now() const { return now_; }
  // kNever when nothing is scheduled.
  Time next() const { return heap_.empty() ? kNever : heap_.front().at; }

  // A moment in the past is taken as now. The sink must outlive the event.
  void schedule(Time at, EventSink& sink, FramePtr frame = nullptr);

  // Runs every event due at or before `until`, then sets the clock to it.
  void run_until(Time until);

 private:
  struct Event {
    Time at;
    std::uint64_t sequence;
    EventSink* sink;
    FramePtr frame;
  };
  static bool later(const Event& a, const Event& b) {
    return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;
  }

  Time now_{};
  std::uint64_t next_sequence_ = 0;
  std::vector<Event> heap_;
};

}  // namespace dlcp::datapath::sim
