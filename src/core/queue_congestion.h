// Congestion control for paths of any delay and any jitter: keeps a short queue at the bottleneck,
// short beside the base delay and beside what jitter hides.
//  - The queue is judged once per round by the round's smallest delay. The minimum of n samples
//    lies above the true one by the spread of the jitter over n + 1; so much is not queue.
//  - The window needs no estimate of bandwidth: it grows until the queue is longer than its target
//    and is cut in proportion. After a cut the sender halves itself for a round more, so that all
//    who share the path see it empty and agree on its base delay.
//  - A larger window has a smaller target: flows that share a queue become equal.
//  - Random loss does not slow the sender, a loss rate above a tolerance does. What licensed
//    traffic loses has its own tolerance (src/ARCHITECTURE.md, Bounded loss).
//  - ECN marks, where switches set them, cut by DCTCP's rule.
#pragma once

#include <array>
#include <cstddef>

#include "core/congestion.h"
#include "core/delay_filter.h"
#include "core/loss_window.h"

namespace dlcp::core {

// The least queue aimed at, about two packets of 9000 bytes at 10 Gbit/s: below it is noise.
inline constexpr Duration kQueueTarget = std::chrono::microseconds(15);

class QueueCongestion final : public CongestionControl {
 public:
  explicit QueueCongestion(Duration target_delay);

  void on_ack(const AckSample& sample) override;
  void on_stall(Time now) override;
  double window() const override { return window_; }
  bool in_slow_start() const override { return slow_start_; }

  Duration base_delay() const { return base_.value(); }

 private:
  // What one round has brought.
  struct Round {
    Duration delay_min{0};
    int samples = 0;
    double acked = 0;
    double lost = 0;
    double spurious = 0;
    double forgone = 0;
    double marked = 0;
    double loss_budget = 0;
    Duration round_trip{0};
    bool limited = false;
  };

  void finish_round();
  void judge_queue();
  double target(double window) const;  // ns
  void on_queue();
  void on_quiet(double tolerance);
  void cut(double factor);
  void drain();
  void cap_by_delivery();

  double target_least_;  // ns
  BaseDelay base_;
  Jitter jitter_;
  LossWindow losses_;
  Round round_;
  Time round_ends_{};

  double window_;
  bool slow_start_ = true;
  double mark_share_ = 0;              // smoothed over rounds
  double queue_ = 0;                   // ns, in this round
  double allowance_ = 0;               // ns of the target that jitter asks for
  std::array<double, 4> delivered_{};  // packets, in the last rounds
  std::size_t rounds_ = 0;

  double growth_ = 0;         // packets per round
  int quiet_rounds_ = 0;      // with next to no queue, in a row
  int resting_ = 0;           // rounds left in which nothing is decided
  double restored_ = 0;       // the window after the drain; 0: no drain
  int queued_rounds_ = 0;     // with more queue than any sender accepts, in a row
  double queued_window_ = 0;  // when they began
};

}  // namespace dlcp::core
