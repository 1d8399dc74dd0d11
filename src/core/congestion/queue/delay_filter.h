// Estimates from the delays of an association: the delay of the empty path, and how much packets
// differ without any queue. Single samples may be wrong.
#pragma once

#include <array>
#include <cstddef>

#include "util/time.h"

namespace dlcp::core {

// Hosts delay packets by up to about this much, because they handle several together.
inline constexpr Duration kHostJitter = std::chrono::microseconds(50);
// An epoch is long enough for the sender to empty the queue several times.
inline constexpr int kBaseEpochRounds = 256;

inline double ns(Duration duration) {
  return static_cast<double>(duration.count());
}

// The base delay: the smallest delay of the last one to two epochs, because routes change.
class BaseDelay {
 public:
  void add(Time now, Duration sample, Duration round_trip);
  // Before the first sample: an upper bound. The first sample may be much smaller.
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

  // A sample can be too small by any amount: clocks are read at different times, and a merged
  // buffer has the time stamp of its first packet. The second smallest of a few is not affected by
  // one such sample.
  std::array<Duration, 8> recent_{};
  std::size_t seen_ = 0;
  bool first_ = false;  // only the bound is known
  Duration base_{0};
  Duration next_{0};  // of the epoch that has begun
  Time epoch_ends_{};
};

// The smoothed difference between mean and smallest delay of a round: the jitter within an RTT,
// whether packets overtake each other or wait for each other. A standing queue raises all delays of
// a round equally.
class DelaySpread {
 public:
  // The `samples` of a round, their sum and the smallest. Rounds of few samples are combined.
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

// The smoothed mean difference of successive values: for the means of rounds, their uncertainty.
class MeanStep {
 public:
  void add(Duration value);
  Duration value() const { return mean_step_; }

 private:
  Duration last_{0};
  Duration mean_step_{0};
};

// The mean delay of the emptiest of the last few rounds. With jitter it is larger than the base
// delay, as is the mean delay of an empty path.
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

// The waiting time of answers on their way back, in queues that other senders fill: the delay above
// the mean of the emptiest recent round. The hosts' clocks may differ; their drift within a few
// rounds is negligible.
class AnswerWait {
 public:
  // `answer`: one-way delay plus an unknown constant. The shortest of a few in a row counts: jitter
  // delays single answers, a queue all of them.
  Duration wait_of(Duration answer);
  void end_round();  // requires at least one answer

 private:
  std::array<Duration, 4> last_{};
  std::size_t seen_ = 0;
  Duration sum_{0};  // of this round
  int answers_ = 0;
  QuietDelay quiet_;
};

}  // namespace dlcp::core
