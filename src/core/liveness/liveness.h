// Decides whether the peer of one connection counts as dead: something is expected of it and does
// not arrive within the time-out. If the peer may leave this side waiting, a sign of life is
// expected; if it has room for data, progress is. A peer that answers while no data passes is
// therefore as dead as a silent one. Time in which this process did not run does not count.
#pragma once

#include <algorithm>
#include <cstdint>

#include "util/time.h"

namespace dlcp::core {

class Liveness {
 public:
  enum class Owes : std::uint8_t {
    kNothing,
    kWord,      // a sign of life
    kProgress,  // a sign of life and progress of the data
  };
  enum class Standing : std::uint8_t {
    kAlive,
    kSilent,  // nothing has arrived from it
    kGone,    // its host reports it unreachable, and it does not answer
    kStuck,   // it answers, but data makes no progress
  };

  // `timeout`: DLCP_PEER_TIMEOUT.
  explicit Liveness(Duration timeout) : timeout_(timeout) {}

  // Sets what is expected from `now` on. The timer of what was expected before continues.
  void expect(Time now, Owes owes);
  // A sign of life arrived at `at`, which may be in the past.
  void on_heard(Time at) {
    heard_at_ = std::max(heard_at_, at);
    if (at > refused_at_) gone_at_ = kNever;
  }
  // Some or all of the expected progress was made.
  void on_progress(Time now) {
    on_heard(now);
    progress_at_ = std::max(progress_at_, now);
  }
  // An ICMP error says that the peer is unreachable. True if this is new; the caller then probes
  // the peer. `answer_time`: the time within which an answer normally arrives.
  bool on_refused(Time now, Duration answer_time);
  // This process did not run for `length` before `now` (it was stopped, or its host suspended). The
  // peer gets time to answer before it is judged.
  void on_pause(Time now, Duration length);

  Time heard_at() const { return heard_at_; }
  bool owes_nothing() const { return owes_ == Owes::kNothing; }
  bool owes_progress() const { return owes_ == Owes::kProgress; }
  // Progress is expected, and there has been none for a considerable part of the time-out.
  bool lacks_progress(Time now) const {
    return owes_progress() && now - progress_at_ > timeout_ / 4;
  }
  // When standing() changes if nothing else happens; kNever while nothing is expected.
  Time deadline() const;
  Standing standing(Time now) const;

 private:
  Duration timeout_;
  Owes owes_ = Owes::kNothing;
  Time heard_at_{};     // or the time since a sign of life is expected, if that is later
  Time progress_at_{};  // likewise for progress
  Time refused_at_{};
  Time gone_at_ = kNever;  // when an unreachable peer counts as dead unless it answers
};

}  // namespace dlcp::core
