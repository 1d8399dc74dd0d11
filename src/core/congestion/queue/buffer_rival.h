// Recognises a sender that fills a buffer which is too short for a queue to stand in it: a TCP, by
// the losses it causes. Where buffers drop, losses come when the delay is long; losses by chance
// know nothing of queues. So the two are watched for how they go together, round by round.
#pragma once

#include <cstddef>

#include "core/congestion/queue/congestion_round.h"
#include "core/congestion/queue/loss_window.h"

namespace dlcp::core {

class BufferRival {
 public:
  // A round has ended; `window` in packets. Without `believable` jitter hides what queues do: then
  // there is no rival.
  void end_round(const CongestionRound& round, Duration base, double window, bool believable);

  // Seen lately: a share is then what a TCP would have.
  bool present() const { return rounds_ < present_until_; }
  // The last round met a queue that is long for this path, and lost more than chance takes.
  bool dropped() const { return dropped_; }

 private:
  static constexpr double kChancePackets = 16384;  // 0.1% are 16 of them

  void learn(double delay, double acked, double lost);
  double correlation() const;

  std::size_t rounds_ = 0;
  std::size_t learned_ = 0;  // rounds with samples and packets
  std::size_t present_until_ = 0;
  double last_mean_ = 0;  // ns
  bool dropped_ = false;

  // Over the last rounds: delay in ns, and the share lost.
  double delay_ = 0;
  double share_ = 0;
  double delay_variance_ = 0;
  double share_variance_ = 0;
  double covariance_ = 0;
  // Of rounds of no more than the mean delay: what they lose is chance's.
  LossWindow by_chance_{kChancePackets};
};

}  // namespace dlcp::core
