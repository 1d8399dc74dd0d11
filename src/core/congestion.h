// What congestion control is asked and told. One object per connection; it sees rounds of
// acknowledgements, never single packets of single paths (those are path_set's business).
#pragma once

#include <cstdint>

#include "util/time.h"

namespace dlcp::core {

struct AckSample {
  Time now;
  Duration round_trip{0};        // smoothed, host delays included: the length of a round
  Duration fabric_delay_min{0};  // smallest sample in this ACK, host delays excluded; 0: none
  std::uint32_t acked_packets = 0;
  std::uint32_t lost_packets = 0;     // to be sent again
  std::uint32_t forgone_packets = 0;  // lost of licensed messages: not sent again so far
  double loss_budget = 0;             // the share of packets that licences allow to lose
  std::uint32_t ce_marks = 0;
  bool window_limited = false;  // the sender used all the window it had
};

class CongestionControl {
 public:
  virtual ~CongestionControl() = default;
  virtual void on_ack(const AckSample& sample) = 0;
  // Nothing is heard any more although probes are sent.
  virtual void on_stall(Time now) = 0;
  // Packets that may be in flight; may be a fraction below 1, which pacing turns into pauses.
  virtual double window() const = 0;
  virtual bool in_slow_start() const = 0;
};

}  // namespace dlcp::core
