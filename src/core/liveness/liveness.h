// Whether the peer of one connection is to be given up: it is when it owes us something and nothing
// comes of it for the time-out. A peer that answers while no data passes is as dead as a silent
// one, so what counts is what is owed: a word where the peer may leave us waiting, progress where
// it has room for what we send. Time in which this process did not run does not count.
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
    kProgress,  // the same, and that what we do gets anywhere
  };
  enum class Standing : std::uint8_t {
    kAlive,
    kSilent,  // nothing has come from it
    kGone,    // its host says that it is not there, and it does not answer
    kStuck,   // it answers, and nothing moves
  };

  // `timeout`: DLCP_PEER_TIMEOUT.
  explicit Liveness(Duration timeout) : timeout_(timeout) {}

  // What the peer owes from `now` on; the clock of what it owed before goes on.
  void expect(Time now, Owes owes);
  void on_heard(Time now) {
    heard_at_ = std::max(heard_at_, now);
    gone_at_ = kNever;
  }
  // What was owed has come, in part or whole.
  void on_progress(Time now) {
    on_heard(now);
    progress_at_ = std::max(progress_at_, now);
  }
  // The peer's host refuses our packets. True if that is news; then ask. `answer_time`: in which an
  // answer comes when all is well.
  bool on_refused(Time now, Duration answer_time);
  // This process did not run for so long before `now` (it was stopped, or its host suspended): the
  // peer is asked before it is judged.
  void on_pause(Time now, Duration length);

  bool owes_progress() const { return owes_ == Owes::kProgress; }
  // When standing() changes if nothing else happens; kNever while nothing is owed.
  Time deadline() const;
  Standing standing(Time now) const;

 private:
  Duration timeout_;
  Owes owes_ = Owes::kNothing;
  Time heard_at_{};        // or since when a word is owed, if that is later
  Time progress_at_{};     // likewise
  Time gone_at_ = kNever;  // when a refused peer is given up unless it is heard
};

}  // namespace dlcp::core
