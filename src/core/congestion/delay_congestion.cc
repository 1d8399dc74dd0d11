#include "core/congestion/delay_congestion.h"

#include <algorithm>

namespace dlcp::core {
namespace {

constexpr double kWindowFirst = 32;
constexpr double kWindowMin = 0.25;
constexpr double kWindowMax = 16384;
constexpr double kDecreaseGain = 0.8;
constexpr double kDecreaseMost = 0.5;
constexpr double kLossTolerance = 0.03;
constexpr double kProbingGrowth =
    0.125;  // per acknowledged packet, while the queue is well below target
constexpr Duration kBaseEpoch = 10s;

}  // namespace

DelayCongestion::DelayCongestion(Duration target_delay)
    : target_(target_delay), window_(kWindowFirst) {}

void DelayCongestion::on_delay(Time now, Duration delay, Duration) {
  if (now >= epoch_ends_) {
    base_ = base_next_ > Duration::zero() ? base_next_ : delay;
    base_next_ = delay;
    epoch_ends_ = now + kBaseEpoch;
  }
  base_ = std::min(base_, delay);
  base_next_ = std::min(base_next_, delay);
  round_delay_ = round_delay_ == Duration::zero() ? delay : std::min(round_delay_, delay);
}

void DelayCongestion::on_ack(const AckSample& sample) {
  round_acked_ += sample.acked_packets;
  round_lost_ += sample.lost_packets;
  round_forgone_ += sample.forgone_packets;
  loss_budget_ = sample.loss_budget;
  round_marked_ += sample.ce_marks;
  round_limited_ |= sample.window_limited;
  if (sample.now < round_ends_ || round_acked_ + round_lost_ + round_forgone_ == 0) return;
  delivered_.add(sample.now, static_cast<double>(round_acked_));
  finish_round();
  round_ends_ = sample.now + sample.round_trip;
  round_delay_ = Duration::zero();
  round_acked_ = round_lost_ = round_forgone_ = round_marked_ = 0;
  round_limited_ = false;
}

void DelayCongestion::finish_round() {
  const auto acked = static_cast<double>(round_acked_);
  const auto lost = static_cast<double>(round_lost_ + round_forgone_);
  const double loss = lost / (acked + lost);
  // Licensed losses are intended drops of switches; more than half of the budget indicates
  // congestion.
  const double half_budget = round_forgone_ > 0 ? loss_budget_ / 2 : kLossTolerance;
  const double tolerance = std::max(half_budget, kLossTolerance);
  const double marks =
      round_acked_ == 0 ? 0 : std::min(1.0, static_cast<double>(round_marked_) / acked);
  loss_rate_ += (loss - loss_rate_) / 8;
  mark_share_ += (marks - mark_share_) / 16;

  const Duration queueing =
      round_delay_ == Duration::zero() ? Duration::zero() : round_delay_ - base_;
  if (queueing > target_) {
    const double excess = static_cast<double>((queueing - target_).count());
    cut(1 - std::min(kDecreaseMost,
                     kDecreaseGain * excess / static_cast<double>(round_delay_.count())));
  } else if (round_marked_ > 0) {
    cut(1 - mark_share_ / 2);
  } else if (loss_rate_ > tolerance && loss > 0) {
    cut(1 - std::min(kDecreaseMost, loss_rate_));
  } else if (round_limited_) {
    if (queueing > target_ / 2 || (round_forgone_ > 0 && loss_rate_ > half_budget)) {
      slow_start_ = false;
      window_ += 1;
    } else {
      window_ += slow_start_ ? acked : std::max(1.0, acked * kProbingGrowth);
    }
  }
  if (round_forgone_ > 0 && round_limited_) window_ = std::min(window_, delivered_.lossy_window());
  window_ = std::clamp(window_, kWindowMin, kWindowMax);
}

void DelayCongestion::cut(double factor) {
  slow_start_ = false;
  window_ *= factor;
}

void DelayCongestion::on_stall(Time) {
  // The packets in flight are lost: start with a small window and grow fast.
  window_ = std::min(window_, 2.0);
  slow_start_ = true;
}

}  // namespace dlcp::core
