// The measurements of one round trip, for congestion control.
#pragma once

#include "core/congestion/congestion.h"
#include "util/time.h"

namespace dlcp::core {

struct CongestionRound {
  int samples = 0;
  Duration delay_sum{0};
  Duration delay_min{0};
  Duration wait_sum{0};
  double acked = 0;
  double lost = 0;      // less those of `spurious`
  double spurious = 0;  // packets that counted as lost before, and were only late
  double forgone = 0;
  double marked = 0;
  double loss_budget = 0;
  bool limited = false;

  void add(const AckSample& sample) {
    acked += sample.acked_packets;
    lost += sample.lost_packets;
    lost -= sample.spurious_packets;
    spurious += sample.spurious_packets;
    forgone += sample.forgone_packets;
    marked += sample.ce_marks;
    loss_budget = sample.loss_budget;
    limited |= sample.window_limited;
  }

  // Requires at least one sample.
  Duration mean() const { return delay_sum / samples; }
  Duration mean_wait() const { return wait_sum / samples; }
};

}  // namespace dlcp::core
