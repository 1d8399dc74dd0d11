#include "core/congestion/queue/buffer_rival.h"

#include <algorithm>
#include <cmath>

#include "core/congestion/queue/delay_filter.h"

namespace dlcp::core {
namespace {

constexpr double kRounds = 32;        // that the averages cover, and that are needed
constexpr double kCorrelation = 0.4;  // random losses give less; next to a TCP flow it is 0.4 to
                                      // 0.8
// A queue that causes drops is a considerable part of the base delay.
constexpr double kQueueLeast = 0.25;
// Growing as Reno does, a window that was halved needs about as many rounds to recover as it has
// packets. After twice that time without a loss, the competing flow counts as gone.
constexpr double kHoldWindows = 2;

}  // namespace

void BufferRival::end_round(const AckSample& round, Duration mean_delay, Duration base,
                            double window, bool believable) {
  dropped_ = false;
  ++rounds_;
  if (mean_delay > Duration::zero() && round.acked > 0) {
    const double lost = std::max(0.0, round.lost - round.spurious);
    const double mean = ns(mean_delay);
    // A drop in the queue is detected up to a round later.
    const double delay = std::max(mean, last_mean_);
    last_mean_ = mean;
    learn(delay, round.acked, lost);
    const bool queue = base >= kHostJitter && delay >= (1 + kQueueLeast) * ns(base);
    if (queue && lost > 0 && correlation() > kCorrelation) {
      const double hold = std::clamp(kHoldWindows * window, kRounds, double{kBaseEpochRounds});
      present_until_ = rounds_ + static_cast<std::size_t>(hold);
    }
    const double expected = by_chance_.share() * (round.acked + lost);
    // If there is no random loss, a single lost packet counts as dropped.
    const bool more = expected > 0 ? more_than_chance(lost, expected) : lost > 0;
    dropped_ = mean > delay_ && more;
  }
  if (!believable) present_until_ = 0;
}

void BufferRival::learn(double delay, double acked, double lost) {
  const double share = lost / (acked + lost);
  // The first rounds have equal weights.
  const double gain = std::max(1 / kRounds, 1 / static_cast<double>(++learned_));
  const double delay_off = delay - delay_;
  const double share_off = share - share_;
  delay_ += gain * delay_off;
  share_ += gain * share_off;
  const double keep = 1 - gain;
  delay_variance_ = keep * (delay_variance_ + gain * delay_off * delay_off);
  share_variance_ = keep * (share_variance_ + gain * share_off * share_off);
  covariance_ = keep * (covariance_ + gain * delay_off * share_off);
  if (delay <= delay_) by_chance_.add(acked, lost);
}

double BufferRival::correlation() const {
  if (static_cast<double>(learned_) < kRounds || delay_variance_ <= 0 || share_variance_ <= 0)
    return 0;
  return covariance_ / std::sqrt(delay_variance_ * share_variance_);
}

}  // namespace dlcp::core
