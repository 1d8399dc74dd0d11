// Congestion control of NSCC's family (Ultra Ethernet 1.0, 3.6.13), for fabrics whose switches
// mark: the window follows two signals, marks of ECN and the delay beside that of the empty path.
//  - No mark and a short queue: in proportion to what the queue lacks to its target; and quickly
//    once a whole window has met no queue at all.
//  - No mark and a long queue: a little, the same for all, which makes windows equal.
//  - Marks and a short queue: the switch says that it begins to fill; nothing.
//  - Marks and a long queue: less, by what the mean queue is above its target, once a round trip.
//  - More losses than chance explains, as where packets are trimmed: no more than has arrived.
// Where it differs from the specification: nobody tells a sender how fast the network is, so the
// window begins with kWindowFirst and doubles until it meets a queue; and where no switch marks, a
// queue of kUnmarked targets counts as marked. Jitter is not told from queues: that is what
// queue_congestion does.
#pragma once

#include "core/congestion/congestion.h"
#include "core/congestion/queue/delay_filter.h"
#include "core/congestion/queue/delivered_lately.h"
#include "core/congestion/queue/loss_window.h"

namespace dlcp::core {

// The least queue aimed at: shorter ones the hosts' own batches hide.
inline constexpr Duration kNsccTarget = std::chrono::microseconds(15);

class NsccCongestion final : public CongestionControl {
 public:
  // `target_delay`: the least queue aimed at; on longer paths it is a share of the base delay.
  explicit NsccCongestion(Duration target_delay);

  void on_handshake(Duration round_trip) override { base_.begin(round_trip); }
  void on_delay(Time now, Duration fabric, Duration answer) override;
  void on_ack(const AckSample& sample) override;
  void on_stall(Time now) override;
  double window() const override { return window_; }
  bool in_slow_start() const override { return slow_start_; }

  Duration base_delay() const { return base_.value(); }

 private:
  double target() const;  // ns of queue
  void hear_delays();
  void steer(const AckSample& sample);
  void grow(double packets);
  void decrease(Time now);
  void end_round(Time now);
  void judge_losses();

  const double target_least_;  // ns
  BaseDelay base_;
  Duration delay_sum_{0};  // of the ACK that is being read
  int delays_ = 0;
  double queue_ = 0;       // ns, as the last ACK with news has it
  double mean_queue_ = 0;  // smoothed
  Duration round_trip_{std::chrono::milliseconds(1)};

  double window_;
  bool slow_start_ = true;
  double calm_ = 0;     // packets acknowledged since the last queue
  Time rests_until_{};  // after a decrease

  // Of this round:
  Time round_ends_{};
  double acked_ = 0;
  double lost_ = 0;
  double forgone_ = 0;
  double loss_budget_ = 0;
  bool limited_ = false;  // in this round or the one before
  bool limited_before_ = false;
  LossWindow losses_;
  DeliveredLately delivered_;
};

}  // namespace dlcp::core
