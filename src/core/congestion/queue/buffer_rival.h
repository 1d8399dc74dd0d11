// Detects a flow, for example TCP, that fills a buffer too short for a standing queue, by the
// losses it causes. Drops in a buffer occur while the delay is large; random losses are independent
// of the delay. Therefore the correlation of loss and delay is measured over rounds.
#pragma once

#include <cstddef>

#include "core/congestion/congestion.h"
#include "core/congestion/queue/loss_window.h"

namespace dlcp::core {

class BufferRival {
 public:
  // A round has ended, with this mean delay (0: unknown); `window` in packets. If jitter hides the
  // queue (not `believable`), no competing flow is detected.
  void end_round(const AckSample& round, Duration mean_delay, Duration base, double window,
                 bool believable);

  // Detected recently: the window then grows and shrinks as TCP's does.
  bool present() const { return rounds_ < present_until_; }
  // The last round had a long queue for this path, and more losses than random loss explains.
  bool dropped() const { return dropped_; }

 private:
  static constexpr double kChancePackets = 16384;  // 0.1% of them are 16

  void learn(double delay, double acked, double lost);
  double correlation() const;

  std::size_t rounds_ = 0;
  std::size_t learned_ = 0;  // rounds with samples and packets
  std::size_t present_until_ = 0;
  double last_mean_ = 0;  // ns
  bool dropped_ = false;

  // Over the last rounds: delay in ns, and share lost.
  double delay_ = 0;
  double share_ = 0;
  double delay_variance_ = 0;
  double share_variance_ = 0;
  double covariance_ = 0;
  // Losses of rounds with at most the mean delay, which count as random.
  LossWindow by_chance_{kChancePackets};
};

}  // namespace dlcp::core
