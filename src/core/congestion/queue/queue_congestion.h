// Congestion control for paths of any delay and any jitter: keeps a queue at the bottleneck that is
// short compared with the base delay and with what jitter hides. It needs no estimate of bandwidth:
// the window grows until the queue is longer than its target, and is cut by the queue's share of
// the RTT and a little more. core/congestion/README.md has all rules.
#pragma once

#include <algorithm>

#include "core/congestion/congestion.h"
#include "core/congestion/loss_cuts.h"
#include "core/congestion/queue/buffer_rival.h"
#include "core/congestion/queue/delay_filter.h"
#include "core/congestion/queue/delivered_lately.h"
#include "core/loss_detection/rtt.h"

namespace dlcp::core {

// The smallest queueing delay to aim at: if hosts are the bottleneck, smaller bursts cost them more
// than this queue costs other flows.
inline constexpr Duration kQueueTarget = std::chrono::microseconds(30);

class QueueCongestion {
 public:
  // `target_delay`: queueing delay to aim at; 0: kQueueTarget.
  explicit QueueCongestion(Duration target_delay);

  // Duration of the handshake with packets as large as data packets: an upper bound of the path's
  // RTT, measured, as a rule, with empty queues.
  void on_handshake(Duration round_trip) { base_.begin(round_trip); }
  // The RTT of one packet without host delays. The calls for an ACK come before its on_ack.
  // `answer` is the part that the answer took, plus an unknown constant, because the hosts' clocks
  // are not synchronised. The clocks may drift by about 100 ppm.
  void on_delay(Time now, Duration fabric, Duration answer);
  void on_ack(const AckSample& sample);
  // Probes get no answer any more.
  void on_stall(Time now);
  // Packets that may be in flight; may be less than 1, which pacing turns into pauses.
  double window() const { return window_ + std::min(answers_waiting_, window_); }
  bool in_slow_start() const { return slow_start_; }

 private:
  struct Delays {  // of the packets of one round
    int samples = 0;
    Duration sum{0};
    Duration least{0};
    Duration wait_sum{0};
    // 0 without samples.
    Duration mean() const { return sum / std::max(samples, 1); }
    Duration mean_wait() const { return wait_sum / std::max(samples, 1); }
  };
  void judge_queue();
  double aim() const;                  // queueing delay in ns, before scaling by the window
  double target(double window) const;  // queueing delay in ns
  void finish_round();
  void watch_standing_queue();
  void decide();
  void on_queue();
  bool stands() const;
  void watch_marks();
  bool marks_count() const;
  double marked_cut() const;
  bool believable() const;
  void rebase();
  void grow();
  void cut(double share);
  void cap_by_delivery();

  const double target_least_;  // ns
  BaseDelay base_;
  DelaySpread spread_;
  MeanStep noise_;  // of the means of rounds
  QuietDelay quiet_;
  AnswerWait answers_;
  LossCuts losses_;
  AckSample round_;
  Delays delays_;
  Time round_ends_{};
  Duration round_trip_ = kUnknownRoundTrip;
  bool has_reports_ = false;  // an ACK of this round reported packets
  double queue_ = 0;          // ns, in this round
  double vagueness_ = 0;      // ns: uncertainty of queue_

  double window_;
  double answers_waiting_ = 0;  // packets
  bool slow_start_ = true;
  double mark_share_ = 0;   // smoothed over rounds
  bool marks_all_ = false;  // the path marks every packet, whatever is sent
  DeliveredLately delivered_;
  double window_before_cut_ = 0;
  int rounds_since_cut_ = 0;
  int queued_rounds_ = 0;       // the last rounds in a row that showed a queue
  int resting_ = 0;             // rounds left without decisions
  int standing_rounds_ = 0;     // successive rounds with a queue above the target
  double standing_window_ = 0;  // window when they began
  BufferRival buffer_rival_;
};

}  // namespace dlcp::core
