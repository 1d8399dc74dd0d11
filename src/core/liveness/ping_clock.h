// When the receiving side of an association sends PING: while a stream waits for the sender, and
// nothing arrives for it. Knows the last sign of life, and how long the sender takes to answer.
#pragma once

#include <algorithm>

#include "core/liveness/probe_clock.h"
#include "util/time.h"

namespace dlcp::core {

class PingClock {
 public:
  explicit PingClock(Duration peer_timeout);

  // A frame for the association or one of its streams: a sign of life for all of them.
  void on_heard(Time now) {
    heard_at_ = now;
    clock_.on_answer();
  }
  // The answer to a PING of the time `asked_at`.
  void on_pong(Time now, Time asked_at) {
    on_heard(now);
    answer_time_ = now - asked_at;
  }
  Time heard_at() const { return heard_at_; }
  Duration answer_time() const { return std::max(first_, answer_time_); }

  void run(Time now) { clock_.run(now, terms()); }  // a stream waits
  void doubt(Time now) {                            // an error says that the sender is gone
    clock_.expire(now);
    doubts_ = true;
  }
  Time next_timeout() const { return clock_.next_timeout(); }
  // True if PING is due. `since`: the earliest time from which on a waiting stream has received
  // nothing; kNever: no stream waits.
  bool on_timeout(Time now, Time since);
  // True if PING reports a stream that has received nothing since that time.
  bool reports(Time now, Time since) const { return since <= now - first_; }
  unsigned due() const { return clock_.due(); }
  void on_sent() { clock_.on_sent(); }

 private:
  ProbeClock::Terms terms() const;

  const Duration first_;    // pause before the first PING
  const Duration longest_;  // pause because answers are late
  ProbeClock clock_;
  bool doubts_ = false;  // PING is due, whatever has arrived before
  Duration answer_time_{0};
  Time heard_at_{};
};

}  // namespace dlcp::core
