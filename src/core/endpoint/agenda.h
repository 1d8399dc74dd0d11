// When the places of a table want to be looked at: each has at most one turn to send, and is to be
// served at some time at the latest. Knows places by their numbers alone, so that whoever takes a
// place next finds its turn and its time there: a flood of short lives leaves no entries behind.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "util/ring_queue.h"
#include "util/time.h"

namespace dlcp::core {

class Agenda {
 public:
  using Place = std::uint32_t;

  // What turns come first: answers wait for no data, as whoever waits for them takes the time for
  // the network's.
  enum class Turn : std::uint8_t { kAnswer, kData };

  // The place has something to send, or may have: it gets one turn, behind the others of its kind.
  void want_turn(Place place, Turn kind) {
    if (std::exchange(mark(place).has_turn, true)) return;
    turns_[static_cast<std::size_t>(kind)].push_back(place);
  }
  bool has_turn(Place place) const { return place < marks_.size() && marks_[place].has_turn; }
  std::optional<Place> pop_turn() {
    for (RingQueue<Place>& turns : turns_) {
      if (turns.empty()) continue;
      const Place place = turns.front();
      turns.pop_front();
      marks_[place].has_turn = false;
      return place;
    }
    return std::nullopt;
  }

  // The place is to be served at `at`. One that is to be served earlier keeps that time, at which
  // it is asked again what it waits for.
  void serve_at(Place place, Time at) {
    if (at >= mark(place).armed_at) return;
    mark(place).armed_at = at;
    timers_.push({at, place});
  }
  // kNever: nobody waits for anything.
  Time next() const { return timers_.empty() ? kNever : timers_.top().at; }

  // Takes up all that is to be served by `now`; pop_due() then names them. What is armed meanwhile
  // is for the next time, so that a place whose work waits for somebody else is served once.
  void take_due(Time now) {
    due_.clear();
    for (; !timers_.empty() && timers_.top().at <= now; timers_.pop())
      due_.push_back(timers_.top());
    next_due_ = 0;
  }
  std::optional<Place> pop_due() {
    while (next_due_ < due_.size()) {
      const Timer timer = due_[next_due_++];
      Mark& mark = marks_[timer.place];
      if (mark.armed_at != timer.at) continue;  // superseded by an earlier one
      mark.armed_at = kNever;
      return timer.place;
    }
    return std::nullopt;
  }

 private:
  struct Mark {
    bool has_turn = false;
    Time armed_at = kNever;  // its earliest entry among the timers
  };
  struct Timer {
    Time at;
    Place place = 0;

    friend bool operator>(const Timer& a, const Timer& b) { return a.at > b.at; }
  };

  Mark& mark(Place place) {
    if (place >= marks_.size()) marks_.resize(place + std::size_t{1});
    return marks_[place];
  }

  std::vector<Mark> marks_;                // by place
  std::array<RingQueue<Place>, 2> turns_;  // by kind
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::vector<Timer> due_;
  std::size_t next_due_ = 0;
};

}  // namespace dlcp::core
