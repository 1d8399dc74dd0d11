// The times of probes to a peer that has not sent what is expected, and their back-off. The caller
// decides on the content of probes and the meaning of answers; Liveness decides whether the peer is
// dead.
#pragma once

#include <algorithm>
#include <cstdint>

#include "util/check.h"
#include "util/time.h"

namespace dlcp::core {

class ProbeClock {
 public:
  static constexpr unsigned kStalledAfter = 3;  // probes without any answer

  // No pause between probes is longer than a quarter of `peer_timeout`, nor a sixteenth because
  // there was no answer: the paths of the probes may be dead.
  explicit ProbeClock(Duration peer_timeout)
      : longest_pause_(peer_timeout / 4), longest_silent_pause_(peer_timeout / 16) {}

  struct Terms {
    Duration answer_time{};  // within which an answer normally arrives
    // Data is in flight and may be lost, or was lost and waits for retransmission: the next answer
    // is needed soon.
    bool outstanding = false;
    // A message waits for a report that its receive is posted, with nothing in flight: early probes
    // find out whether that report was lost.
    bool held = false;
    // The longest pause while nothing is outstanding and the peer answers.
    Duration seldom = std::chrono::seconds(1);
  };
  // Something is expected: the clock starts, or continues. On a short path the first probes while
  // something may be lost are early, because a lost tail waits for them. They do not count as
  // unanswered, because a host may just be busy for longer.
  void run(Time now, const Terms& terms);
  void stop() { at_ = kNever; }
  // Any answer: the path works in both directions.
  void on_answer() {
    unanswered_ = asked_ = 0;
    // The next early probe was planned in case this one got no answer.
    if (early_ && asked_early_ > 0) at_ = kNever;
  }
  // The peer has made progress: the pauses start again.
  void on_progress() {
    fruitless_ = asked_early_ = repairs_ = 0;
    at_ = kNever;
  }
  // A loss was detected, by an answer or by the timer, and is retransmitted. The retransmission may
  // be lost as well, so it is probed for as early as the first transmission, but only kEarlyRepairs
  // times without progress.
  void on_repair(Time now, const Terms& terms);
  // There is reason to doubt: probe at once, and quickly.
  void expire(Time now) {
    fruitless_ = 0;
    early_ = false;
    at_ = now;
  }
  // Sends one probe at once; the planned probes remain planned.
  void demand() { demanded_ = true; }
  // Nothing is in flight: the next probe is planned again from now on.
  void postpone() { at_ = kNever; }

  Time next_timeout() const { return at_; }
  // True when it is time to probe.
  bool on_timeout(Time now, const Terms& terms);

  // Probes to send now, each on its own path.
  unsigned due() const { return std::max(due_, demanded_ ? 1u : 0u); }
  void on_sent() {
    check(due() > 0, "only a due probe is sent");
    demanded_ = false;
    if (due_ > 0) --due_;
  }
  // Rounds of probes since the last answer, and since the last progress.
  unsigned unanswered() const { return unanswered_; }
  unsigned fruitless() const { return fruitless_; }

 private:
  void plan(Time now, const Terms& terms);
  Duration pause(const Terms& terms) const;
  Duration seldom(const Terms& terms) const;

  Duration longest_pause_;
  Duration longest_silent_pause_;
  Time at_ = kNever;
  bool outstanding_ = false;  // when at_ was planned
  unsigned unanswered_ = 0;
  unsigned fruitless_ = 0;
  unsigned due_ = 0;
  bool demanded_ = false;
  unsigned asked_ = 0;        // rounds since the last answer, early ones included
  bool early_ = false;        // at_ is the time of an early probe
  unsigned asked_early_ = 0;  // since the last progress
  unsigned repairs_ = 0;      // since the last progress
};

}  // namespace dlcp::core
