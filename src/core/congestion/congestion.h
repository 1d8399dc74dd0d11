// What congestion control is asked and told. One object per connection; it sees rounds of
// acknowledgements, never single packets of single paths (those are path_set's business).
#pragma once

#include <cstdint>
#include <memory>

#include "util/time.h"

namespace dlcp::core {

struct AckSample {
  Time now;
  Duration round_trip{0};  // smoothed, host delays included: the length of a round
  std::uint32_t acked_packets = 0;
  std::uint32_t lost_packets = 0;      // to be sent again, but for those of paths that seem dead
  std::uint32_t spurious_packets = 0;  // reported lost earlier, and were not
  std::uint32_t forgone_packets = 0;   // lost of licensed messages: not sent again so far
  double loss_budget = 0;              // the share of packets that licences allow to lose
  std::uint32_t ce_marks = 0;
  // The congestion window stopped the sender, neither the receiver's credit nor want of data.
  bool window_limited = false;
};

class CongestionControl {
 public:
  virtual ~CongestionControl() = default;
  // What the handshake took with packets as large as data: the path is no longer than that, and as
  // a rule it was empty then.
  virtual void on_handshake(Duration round_trip) = 0;
  // What one packet took, host delays excluded; those that an ACK reports come before its on_ack.
  // `answer`: what of it the answer took, beyond something unknown that is the same in each, as the
  // hosts' clocks are not set alike. They may drift apart by 100 ppm or so.
  virtual void on_delay(Time now, Duration fabric, Duration answer) = 0;
  virtual void on_ack(const AckSample& sample) = 0;
  // Nothing is heard any more although probes are sent.
  virtual void on_stall(Time now) = 0;
  // Packets that may be in flight; may be a fraction below 1, which pacing turns into pauses.
  virtual double window() const = 0;
  virtual bool in_slow_start() const = 0;
};

// The algorithms that a job can choose from (DLCP_CONGESTION).
enum class CongestionKind : std::uint8_t {
  kQueue,  // queue_congestion: measures base delay and jitter, keeps the queue short beside them
  kDelay,  // delay_congestion: keeps the delay at a fixed target, for fabrics without jitter
  kNscc,   // nscc_congestion: follows marks and delay together, for fabrics whose switches mark
};

// `target_delay`: queueing delay to aim at, 0: what suits the algorithm.
std::unique_ptr<CongestionControl> make_congestion(CongestionKind kind, Duration target_delay);

}  // namespace dlcp::core
