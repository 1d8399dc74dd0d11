// What one round trip brought, as congestion control judges it.
#pragma once

#include "util/time.h"

namespace dlcp::core {

struct CongestionRound {
  int samples = 0;
  Duration delay_sum{0};
  Duration delay_min{0};
  Duration wait_sum{0};
  double acked = 0;
  double lost = 0;  // and not found to have been there all the time
  double forgone = 0;
  double marked = 0;
  double loss_budget = 0;
  bool limited = false;

  // Of 1 sample or more.
  Duration mean() const { return delay_sum / samples; }
  Duration mean_wait() const { return wait_sum / samples; }
};

}  // namespace dlcp::core
