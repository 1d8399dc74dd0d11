// Delay-based congestion control like Swift (SIGCOMM 2020): keeps the queueing delay at a target.
// Differences, and their reasons:
// - The decision is made once per round on the smallest delay of any path: path_set handles a
//   single slow path, and a standing queue on all paths is congestion.
// - Random loss does not slow the sender, only a loss rate above kLossTolerance does: on a lossy
//   network the delay stays small, on a congested one it grows first.
// - Losses of licensed traffic count as loss, with a tolerance of half the budget if that is more,
//   and limit the window by what arrived (src/ARCHITECTURE.md, Bounded loss).
// - ECN marks, if switches set them, cut the window as in DCTCP.
#pragma once

#include <cstdint>

#include "core/congestion/congestion.h"
#include "core/congestion/queue/delivered_lately.h"

namespace dlcp::core {

inline constexpr Duration kDelayTarget = std::chrono::microseconds(200);

class DelayCongestion final : public CongestionControl {
 public:
  explicit DelayCongestion(Duration target_delay);

  void on_handshake(Duration) override {}
  void on_delay(Time now, Duration fabric, Duration answer) override;
  void on_ack(const AckSample& sample) override;
  void on_stall(Time now) override;
  double window() const override { return window_; }
  bool in_slow_start() const override { return slow_start_; }

 private:
  void finish_round();
  void cut(double factor);

  Duration target_;
  double window_;
  bool slow_start_ = true;
  double loss_rate_ = 0;   // smoothed over rounds
  double mark_share_ = 0;  // smoothed over rounds
  DeliveredLately delivered_;

  Time round_ends_{};
  Duration round_delay_{0};  // smallest in this round; 0: no sample
  std::uint64_t round_acked_ = 0;
  std::uint64_t round_lost_ = 0;
  std::uint64_t round_forgone_ = 0;
  double loss_budget_ = 0;
  std::uint64_t round_marked_ = 0;
  bool round_limited_ = false;

  // Smallest delay of the last one to two epochs. Routes change, so no minimum is kept for ever.
  Duration base_{0};
  Duration base_next_{0};
  Time epoch_ends_{};
};

}  // namespace dlcp::core
