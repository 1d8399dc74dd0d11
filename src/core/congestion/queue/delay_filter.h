// What the delays of a connection say about its path: how long it takes when it is empty, and how
// much packets differ without any queue. Both are judged from samples that may be wrong one by one.
#pragma once

#include <array>
#include <cstddef>

#include "util/time.h"

namespace dlcp::core {

inline double ns(Duration duration) {
  return static_cast<double>(duration.count());
}

// The delay of the empty path: the smallest of the last one to two epochs, as routes change.
class BaseDelay {
 public:
  void add(Time now, Duration sample, Duration round_trip);
  // Before the first sample: no more than `bound`, and the first sample may well be less.
  void begin(Duration bound) {
    restart(bound);
    first_ = true;
  }
  // The path has another delay from now on.
  void restart(Duration base) {
    base_ = next_ = base;
    seen_ = 0;
  }
  Duration value() const { return base_; }  // 0 before the first sample

 private:
  Duration credible(Duration sample);

  // A sample can be too small by any amount: clocks are read apart, and a merged buffer bears the
  // stamp of its first packet. The second smallest of a few is not deceived by one.
  std::array<Duration, 8> recent_{};
  std::size_t seen_ = 0;
  bool first_ = false;  // nothing but the bound is known
  Duration base_{0};
  Duration next_{0};  // of the epoch that has begun
  Time epoch_ends_{};
};

// By how much the mean delay lies above the smallest of a round, smoothed: what jitter does within
// a round trip, whether packets overtake each other or wait for each other. A standing queue lifts
// all delays of a round alike.
class DelaySpread {
 public:
  // A round's `samples`, their sum and the smallest. Rounds of few samples are taken together.
  void add(int samples, Duration sum, Duration smallest);
  Duration value() const { return spread_; }
  bool known() const { return known_; }

 private:
  int samples_ = 0;
  Duration sum_{0};
  Duration smallest_{0};
  bool known_ = false;
  Duration spread_{0};
};

// The mean step between neighbours, smoothed: of the means of rounds, how far they can be trusted.
class MeanStep {
 public:
  explicit MeanStep(int gain) : gain_(gain) {}  // over about so many steps
  void add(Duration value);
  Duration value() const { return mean_step_; }

 private:
  int gain_;
  Duration last_{0};
  Duration mean_step_{0};
};

// The mean delay of the emptiest of the last few rounds. With jitter it lies above the base delay,
// as the delay of an empty path does on average.
class QuietDelay {
 public:
  void add(Duration round_mean);
  void restart() { quiet_ = next_ = Duration::max(); }
  Duration value() const { return quiet_; }  // Duration::max(): no round so far

 private:
  int rounds_ = 0;  // since next_ began
  Duration quiet_ = Duration::max();
  Duration next_ = Duration::max();
};

// What answers wait for on their way back, in queues that others fill: beyond the mean of the
// emptiest round lately. The hosts' clocks may differ, and drift as little as they can within a few
// rounds.
class AnswerWait {
 public:
  // Of an answer that took so long, beyond something unknown that is the same in each. Of a few in
  // a row the shortest counts: jitter delays single ones, a queue all of them.
  Duration wait_of(Duration answer);
  void end_round();  // with one answer at least

 private:
  std::array<Duration, 4> last_{};
  std::size_t seen_ = 0;
  Duration sum_{0};  // of this round
  int answers_ = 0;
  QuietDelay quiet_;
};

}  // namespace dlcp::core
