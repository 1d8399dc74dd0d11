// Congestion control for paths of any delay and any jitter: keeps a short queue at the bottleneck,
// short beside the base delay and beside what jitter hides.
//  - The queue of a round is its mean delay less that of the emptiest round lately (delay_filter).
//    What answers wait for on their way back is none of it, as another sender fills that queue; so
//    many packets as are delivered meanwhile may be in flight besides the window.
//    A mean is the same for all who share the queue, however often they are acknowledged; of a
//    minimum large flows would know more than small ones. The target allows for what the means of
//    rounds differ by.
//  - The window needs no estimate of bandwidth: it grows until the queue is longer than its target,
//    and is cut by what the queue is of the round trip, and a little more, so that it empties.
//  - A larger window has a smaller target: flows that share a queue become equal. A few packets of
//    its own every sender may have in it, as TCP Vegas has.
//  - Random loss does not slow the sender, a loss rate above a tolerance does. What licensed
//    traffic loses has its own tolerance (src/ARCHITECTURE.md, Bounded loss).
//  - ECN marks, where switches set them, cut by DCTCP's rule, but no more than the queue that
//    shows; not while they are few and none does: sprayed packets meet somewhere all the time. To a
//    large window fewer are many, so that who has most yields first. Nor is a small window cut that
//    was not what held the sender back.
//  - A queue that stays, whatever is cut, is a base delay that has grown. If it soon grows again
//    somebody fills the queue on purpose: then the window is what a TCP's would be (tcp_window),
//    until the queue empties. A buffer in which no queue can stand shows him by its losses
//    (buffer_rival): then a loss halves the window, and it grows as Reno's.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/congestion/congestion.h"
#include "core/congestion/queue/buffer_rival.h"
#include "core/congestion/queue/congestion_round.h"
#include "core/congestion/queue/delay_filter.h"
#include "core/congestion/queue/delivered_lately.h"
#include "core/congestion/queue/loss_window.h"
#include "core/congestion/queue/tcp_window.h"

namespace dlcp::core {

// The least queue aimed at: where hosts are what limits, smaller bursts cost them more than the
// queue costs anybody.
inline constexpr Duration kQueueTarget = std::chrono::microseconds(30);

class QueueCongestion final : public CongestionControl {
 public:
  explicit QueueCongestion(Duration target_delay);

  void on_handshake(Duration round_trip) override { base_.begin(round_trip); }
  void on_delay(Time now, Duration fabric, Duration answer) override;
  void on_ack(const AckSample& sample) override;
  void on_stall(Time now) override;
  double window() const override { return window_ + std::min(answers_waiting_, window_); }
  bool in_slow_start() const override { return slow_start_; }

  Duration base_delay() const { return base_.value(); }
  bool competing() const { return competing_; }

 private:
  void judge_queue();
  double aim() const;                  // ns of queue, before scaling by the window
  double target(double window) const;  // ns of queue
  void finish_round();
  void watch_standing_queue();
  void decide();
  void on_queue();
  bool stands() const;
  bool marks_count() const;
  double marked_cut() const;
  bool believable() const;
  void rebase();
  bool rebase_was_wrong() const;
  void begin_competing();
  void compete();
  void grow(double half_budget);
  void cut(double share);
  void cap_by_delivery();

  const double target_least_;  // ns
  BaseDelay base_;
  DelaySpread spread_;
  MeanStep noise_;  // of the means of rounds
  QuietDelay quiet_;
  AnswerWait answers_;
  LossWindow losses_;
  CongestionRound round_;
  Time now_{};
  Time round_ends_{};
  Duration round_trip_{std::chrono::milliseconds(1)};
  bool heard_ = false;    // anything of packets in this round
  double queue_ = 0;      // ns, in this round
  double vagueness_ = 0;  // ns, that queue_ may be wrong by

  double window_;
  double answers_waiting_ = 0;  // packets
  bool slow_start_ = true;
  double mark_share_ = 0;  // smoothed over rounds
  DeliveredLately delivered_;
  std::size_t rounds_ = 0;
  double window_before_cut_ = 0;
  double queue_before_cut_ = 0;  // ns
  int rounds_since_cut_ = 0;
  int resting_ = 0;  // rounds left in which nothing is decided

  int standing_rounds_ = 0;     // with a queue above the target, in a row
  double standing_window_ = 0;  // when they began
  std::size_t rebased_at_ = 0;  // round
  Duration base_before_{0};     // the rebase; 0: none yet
  Duration base_after_{0};
  TcpWindow tcp_;
  BufferRival buffer_rival_;
  bool competing_ = false;
  std::size_t tested_at_ = 0;  // round
};

}  // namespace dlcp::core
