// How long the peer takes to answer PING. Hosts with more work than processor time take seconds.
// PINGs at the usual rate would then use the processor time that the data needs.
#pragma once

#include <algorithm>
#include <utility>

#include "util/time.h"

namespace dlcp::core {

class PingAnswers {
 public:
  void on_ping(Time now) {
    if (asked_at_ == kNever || now - asked_at_ > kLost) asked_at_ = now;
  }
  void on_pong(Time now) {
    if (asked_at_ == kNever) return;  // the second answer to PINGs that were sent together
    const Duration took = now - std::exchange(asked_at_, kNever);
    before_ = last_ == Duration::zero() ? took : last_;
    last_ = took;
  }
  // The shorter of the last two: if a PING or PONG was lost, the measured time is too long.
  Duration answer_time() const { return std::min(last_, before_); }

 private:
  static constexpr Duration kLost = std::chrono::seconds(2);  // after this, PING or PONG is lost

  Time asked_at_ = kNever;  // of the first PING since the last PONG
  Duration last_{0};
  Duration before_{0};
};

}  // namespace dlcp::core
