// The schedule of a table's places: each place has at most one turn to send, and one time at which
// it is served at the latest. A place is only a number here: if its content changes, the new
// content inherits turn and time, so that many short-lived connections leave no entries behind.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "util/memory/ring_queue.h"
#include "util/time.h"

namespace dlcp::core {

class Agenda {
 public:
  using Place = std::uint32_t;

  // Kinds of turns, first to last. An answer must not wait for data, because the peer would count
  // that time as network delay. An answer that the peer does not wait for follows the data of one
  // call instead, because to send it takes as long as to send a short message.
  enum class Turn : std::uint8_t { kAnswer, kData, kFollower };

  // The place has, or may have, something to send: it gets one turn, after the others of its kind.
  void want_turn(Place place, Turn kind) {
    Mark& mark = this->mark(place);
    if (mark.has_turn && mark.kind <= kind) return;
    mark = {true, kind, mark.armed_at};
    turns_[static_cast<std::size_t>(kind)].push_back(place);
  }
  bool has_turn(Place place) const { return place < marks_.size() && marks_[place].has_turn; }
  std::optional<Place> pop_turn() {
    for (std::size_t kind = 0; kind < turns_.size(); ++kind) {
      while (!turns_[kind].empty()) {
        const Place place = turns_[kind].front();
        turns_[kind].pop_front();
        if (take_turn(place, Turn(kind))) return place;
      }
    }
    return std::nullopt;
  }
  void end_call() {  // followers that had no turn do not wait for the data of the next call
    RingQueue<Place>& followers = turns_[static_cast<std::size_t>(Turn::kFollower)];
    for (; !followers.empty(); followers.pop_front())
      if (take_turn(followers.front(), Turn::kFollower))
        want_turn(followers.front(), Turn::kAnswer);
  }

  // Serves the place at `at`. If it is already due earlier, that time remains, and the place is
  // asked for its deadline again then. A place that has a turn is served with it; its time only
  // matters if nothing can be sent for long.
  void serve_at(Place place, Time at) {
    if (has_turn(place)) at = std::max(at, now_ + kPatience);
    if (at >= mark(place).armed_at) return;
    mark(place).armed_at = at;
    timers_.push({at, place});
  }
  // kNever: no timer is armed.
  Time next() const { return timers_.empty() ? kNever : timers_.top().at; }

  // Collects the timers that are due by `now` for pop_due(). A timer that is armed meanwhile
  // belongs to the next call, so that a place is served once per call even if it is due again at
  // once.
  void take_due(Time now) {
    due_.clear();
    now_ = now;
    for (; !timers_.empty() && timers_.top().at <= now; timers_.pop())
      due_.push_back(timers_.top());
    next_due_ = 0;
  }
  std::optional<Place> pop_due() {
    while (next_due_ < due_.size()) {
      const Timer timer = due_[next_due_++];
      Mark& mark = marks_[timer.place];
      if (mark.armed_at != timer.at) continue;  // superseded by an earlier timer
      mark.armed_at = kNever;
      return timer.place;
    }
    return std::nullopt;
  }

 private:
  struct Mark {
    bool has_turn = false;
    Turn kind = Turn::kAnswer;  // of the turn
    Time armed_at = kNever;     // its earliest entry in timers_
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

  bool take_turn(Place place, Turn kind) {  // false: another kind of turn has replaced it
    return marks_[place].kind == kind && std::exchange(marks_[place].has_turn, false);
  }

  static constexpr Duration kPatience = 5ms;

  Time now_ = Time::min() + kPatience;     // of the last take_due()
  std::vector<Mark> marks_;                // by place
  std::array<RingQueue<Place>, 3> turns_;  // by kind
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::vector<Timer> due_;
  std::size_t next_due_ = 0;
};

}  // namespace dlcp::core
