// Congestion control like NSCC (Ultra Ethernet 1.0, 3.6.13), for fabrics whose switches mark. The
// window follows ECN marks, and the delay in excess of the base delay.
// - No mark and a short queue: grow in proportion to the queue's distance from its target; grow
//   fast after a whole window without any queue.
// - No mark and a long queue: grow slowly, at the same rate for all, which makes windows equal.
// - Marks and a short queue: keep the window. Marks and a long queue: cut, once per RTT.
// - More losses than chance explains: no more than has arrived (loss_cuts).
//
// Differences from the specification: the window begins with kWindowFirst and doubles until there
// is a queue, because a sender does not know the speed of the network. If no switch marks, a queue
// of kUnmarked targets counts as marked.
#pragma once

#include "core/congestion/congestion.h"
#include "core/congestion/loss_cuts.h"
#include "core/congestion/queue/delay_filter.h"
#include "core/congestion/queue/delivered_lately.h"
#include "core/loss_detection/rtt.h"

namespace dlcp::core {

// The smallest queueing delay to aim at: batching in hosts hides shorter queues.
inline constexpr Duration kNsccTarget = std::chrono::microseconds(15);

class NsccCongestion final : public CongestionControl {
 public:
  // `target_delay`: the smallest queueing delay to aim at; longer paths use a share of the base
  // delay.
  explicit NsccCongestion(Duration target_delay);

  void on_handshake(Duration round_trip) override { base_.begin(round_trip); }
  void on_delay(Time now, Duration fabric, Duration answer) override;
  void on_ack(const AckSample& sample) override;
  void on_stall(Time now) override;
  double window() const override { return window_; }
  bool in_slow_start() const override { return slow_start_; }

 private:
  double target() const;  // queueing delay in ns
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
  double queue_ = 0;       // ns, from the last ACK with delays
  double mean_queue_ = 0;  // smoothed
  Duration round_trip_ = kUnknownRoundTrip;

  double window_;
  bool slow_start_ = true;
  double calm_ = 0;     // packets acknowledged since the last queue
  Time rests_until_{};  // no further decrease before

  AckSample round_;
  Time round_ends_{};
  bool limited_before_ = false;  // in the round before
  LossCuts losses_;
  DeliveredLately delivered_;
};

}  // namespace dlcp::core
