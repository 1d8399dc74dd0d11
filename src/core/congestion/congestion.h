// Limits of congestion windows, and the input of congestion control. Each association has one
// object. It receives the sums of acknowledgements, not single packets of single paths, which
// path_set handles.
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

}  // namespace dlcp::core
