// When to ask a peer that owes us something whether it is there, and how the asking backs off. What
// is asked, and what follows from the answer, is the caller's; whether the peer is given up is
// Liveness's.
#pragma once

#include <cstdint>

#include "util/check.h"
#include "util/time.h"

namespace dlcp::core {

class ProbeClock {
 public:
  static constexpr unsigned kStalledAfter = 3;  // questions without any answer

  // No pause between questions is longer than a quarter of `peer_timeout`.
  explicit ProbeClock(Duration peer_timeout) : longest_pause_(peer_timeout / 4) {}

  struct Terms {
    Duration answer_time{};  // in which an answer comes when all is well
    // Something of ours is in flight and may be lost, or was and waits to be sent again: the next
    // answer is worth a hurry.
    bool outstanding = false;
    Duration seldom = std::chrono::seconds(1);  // the longest pause while nothing is outstanding
  };
  // Something is owed: the clock runs from now on, or goes on as it was. On a short path the first
  // questions while something may be lost come early, as a lost tail waits for them; they count
  // for nothing, since a host may merely be busy for longer.
  void run(Time now, const Terms& terms);
  void stop() { at_ = kNever; }
  // Any answer: the way there and back works.
  void on_answer() {
    unanswered_ = asked_ = 0;
    // The next early question was for the case that this one got none.
    if (early_ && asked_early_ > 0) at_ = kNever;
  }
  // The peer moved us on: what comes now is waited for anew.
  void on_progress() {
    fruitless_ = asked_early_ = repairs_ = 0;
    at_ = kNever;
  }
  // What is lost has been found, by an answer or by the clock, and is sent again. It may be lost
  // once more: that is asked as early as the first time, unless nothing ever gets through.
  void on_repair(Time now, const Terms& terms);
  // There is reason to doubt: ask now, and quickly.
  void hurry(Time now) {
    fruitless_ = 0;
    early_ = false;
    at_ = now;
  }
  // There is nothing in flight to hurry for: the next question waits for its time from now on.
  void postpone() { at_ = kNever; }

  Time next_timeout() const { return at_; }
  // True when it is time to ask.
  bool on_timeout(Time now, const Terms& terms);

  // Questions to be sent now, each on a path of its own.
  unsigned due() const { return due_; }
  void on_sent() {
    check(due_ > 0, "only a probe that is due is sent");
    --due_;
  }
  // Times that was asked since any answer, and since anything came of it.
  unsigned unanswered() const { return unanswered_; }
  unsigned fruitless() const { return fruitless_; }
  // The same since any answer, early ones included.
  unsigned asked() const { return asked_; }

 private:
  void plan(Time now, const Terms& terms);
  Duration pause(const Terms& terms) const;

  Duration longest_pause_;
  Time at_ = kNever;
  unsigned unanswered_ = 0;
  unsigned fruitless_ = 0;
  unsigned due_ = 0;
  unsigned asked_ = 0;
  bool early_ = false;        // at_ is of an early question
  unsigned asked_early_ = 0;  // since anything came of a question
  unsigned repairs_ = 0;      // since the peer moved us on
};

}  // namespace dlcp::core
