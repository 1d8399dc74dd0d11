// The interface of congestion control. Each association has one object. It receives the sums of
// acknowledgements, not single packets of single paths, which path_set handles.
#pragma once

#include <algorithm>

#include "util/time.h"

namespace dlcp::core {

// Limits of every congestion window, in packets.
inline constexpr double kWindowMin = 0.25;    // one packet per four RTTs
inline constexpr double kWindowSmall = 2;     // a packet or two in flight cause no queue
inline constexpr double kCutMost = 0.5;       // of the window, at a time
inline constexpr double kWindowMax = 131072;  // 190 MB of 1472 bytes: 15 Gbit/s over 100 ms

// The numbers of packets that one ACK, or all ACKs of a round, report.
struct AckSample {
  Time now;
  Duration round_trip{0};  // smoothed RTT, host delays included: the length of a round
  double acked = 0;
  double lost = 0;      // to be retransmitted, except those of paths that seem dead
  double spurious = 0;  // counted as lost before, and were not
  double forgone = 0;   // losses of licensed messages, not retransmitted so far
  double marked = 0;
  double loss_budget = 0;  // the share of packets that licences allow to lose
  bool limited = false;    // by the congestion window, not by credit or lack of data

  void add(const AckSample& later) {
    now = later.now;
    round_trip = later.round_trip;
    acked += later.acked;
    lost += later.lost;
    spurious += later.spurious;
    forgone += later.forgone;
    marked += later.marked;
    loss_budget = std::max(loss_budget, later.loss_budget);
    limited |= later.limited;
  }
};

class CongestionControl {
 public:
  virtual ~CongestionControl() = default;
  // Duration of the handshake with packets as large as data packets: an upper bound of the path's
  // RTT, measured, as a rule, with empty queues.
  virtual void on_handshake(Duration round_trip) = 0;
  // The RTT of one packet without host delays. The calls for an ACK come before its on_ack.
  // `answer` is the part that the answer took, plus an unknown constant, because the hosts' clocks
  // are not synchronised. The clocks may drift by about 100 ppm.
  virtual void on_delay(Time now, Duration fabric, Duration answer) = 0;
  virtual void on_ack(const AckSample& sample) = 0;
  // Probes get no answer any more.
  virtual void on_stall(Time now) = 0;
  // Packets that may be in flight; may be less than 1, which pacing turns into pauses.
  virtual double window() const = 0;
  virtual bool in_slow_start() const = 0;
};

}  // namespace dlcp::core
