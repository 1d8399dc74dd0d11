// The window that a TCP would have in our place: CUBIC's (RFC 9438), advanced once per round.
// Beside a flow that fills the queue until packets are dropped, nothing less is ever a fair share.
#pragma once

#include "util/time.h"

namespace dlcp::core {

class TcpWindow {
 public:
  void begin(Time now, double packets);
  // `lost`: the round has lost packets.
  void on_round(Time now, Duration round_trip, bool lost);
  double packets() const { return window_; }

 private:
  double window_ = 0;
  double before_cut_ = 0;
  double after_cut_ = 0;
  Time cut_at_{};
};

}  // namespace dlcp::core
