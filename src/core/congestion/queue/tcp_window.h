// The window of a TCP flow in the same situation: CUBIC (RFC 9438), advanced once per round. Next
// to a flow that fills the queue until packets are dropped, a smaller window would never get a fair
// share.
#pragma once

#include "util/time.h"

namespace dlcp::core {

class TcpWindow {
 public:
  void begin(Time now, double packets);
  // `lost`: packets of the round were lost.
  void on_round(Time now, Duration round_trip, bool lost);
  double packets() const { return window_; }

 private:
  double window_ = 0;
  double before_cut_ = 0;
  double after_cut_ = 0;
  Time cut_at_{};
};

}  // namespace dlcp::core
