#include "core/queue_congestion.h"

#include <algorithm>
#include <cmath>

namespace dlcp::core {
namespace {

constexpr double kWindowFirst = 32;
constexpr double kWindowMin = 0.25;
constexpr double kWindowMax = 131072;  // 1 GB in flight: 100 ms at 80 Gbit/s

// The target: a share of the base delay, so that one rule serves 10 us and 100 ms, and more for
// small windows, which then take from large ones. Windows above kWindowLarge are all the same.
constexpr double kBaseShare = 0.1;
constexpr double kSmallGain = 0.5;  // per halving of the window
constexpr double kWindowLarge = 1024;
// More samples do not make the target smaller: acknowledgements come once per so many packets, so
// that larger flows would have the larger target.
constexpr int kSamplesCounted = 3;
// More jitter than this is not believed: bursts of others look like it. Times the base, or in ns.
constexpr double kSpreadBases = 3;
constexpr double kSpreadFree = 100e3;

constexpr double kCutGain = 0.8;
constexpr double kCutMost = 0.5;
constexpr double kCutByLoss = 0.3;  // at least: as CUBIC's
constexpr double kLossTolerance = 0.02;
// After a cut the sender sends so much of its window for a round.
constexpr double kDrainDepth = 0.5;

// Growth per round, in packets: by the root of the window, so that small flows gain on large ones,
// but never more than a share of it.
constexpr double kGrowthRoot = 2;
constexpr double kGrowthShare = 1.0 / 16;
constexpr double kSmallestShare = 1.0 / 4;  // of a window of a few packets
constexpr int kQuietRounds = 4;             // then growth doubles per round
constexpr double kQuickestGrowth = 0.25;    // of the window per round

// Rounds with a queue that no sender would leave standing, at a quarter of the window: the path has
// changed its base delay.
constexpr int kRebaseRounds = 6;
constexpr double kRebaseWindow = 0.25;

// No window grows beyond what it can be used for.
constexpr double kUnusedGain = 2;
constexpr double kUnusedLeast = 32;
// While licensed packets are lost, no more may be in flight than this times what has arrived per
// round trip; a few are always allowed.
constexpr double kDeliveredGain = 1.25;
constexpr double kDeliveredLeast = 8;

double ns(Duration duration) {
  return static_cast<double>(duration.count());
}

}  // namespace

QueueCongestion::QueueCongestion(Duration target_delay)
    : target_least_(ns(target_delay)), window_(kWindowFirst) {}

void QueueCongestion::on_ack(const AckSample& sample) {
  if (sample.fabric_delay_min > Duration::zero()) {
    const Duration delay = sample.fabric_delay_min;
    base_.add(sample.now, delay, sample.round_trip);
    jitter_.add(delay);
    round_.delay_min = round_.samples == 0 ? delay : std::min(round_.delay_min, delay);
    ++round_.samples;
  }
  round_.acked += sample.acked_packets;
  round_.lost += sample.lost_packets;
  round_.spurious += sample.spurious_packets;
  round_.forgone += sample.forgone_packets;
  round_.marked += sample.ce_marks;
  round_.loss_budget = sample.loss_budget;
  round_.round_trip = sample.round_trip;
  round_.limited |= sample.window_limited;
  if (sample.now < round_ends_ || round_.acked + round_.lost + round_.forgone == 0) return;
  finish_round();
  round_ends_ = sample.now + sample.round_trip;
  round_ = Round{};
}

void QueueCongestion::judge_queue() {
  const double spread =
      std::min(ns(jitter_.spread()), std::max(kSpreadBases * ns(base_.value()), kSpreadFree));
  allowance_ = spread / (std::min(round_.samples, kSamplesCounted) + 1);
  queue_ = 0;
  if (round_.samples == 0) return;
  const double hidden = spread / (round_.samples + 1);
  queue_ = std::max(0.0, ns(round_.delay_min - base_.value()) - hidden);
}

double QueueCongestion::target(double window) const {
  const double halvings = std::log2(1 + kWindowLarge / window);
  return (target_least_ + kBaseShare * ns(base_.value()) + allowance_) *
         (1 + kSmallGain * halvings);
}

void QueueCongestion::finish_round() {
  const double lost = round_.lost + round_.forgone;
  // Licensed losses are the switch doing its job; beyond half of what they may be, they are a sign.
  const double half_budget = round_.forgone > 0 ? round_.loss_budget / 2 : kLossTolerance;
  const double tolerance = std::max(half_budget, kLossTolerance);
  delivered_[rounds_++ % delivered_.size()] = round_.acked;
  const double marks = round_.acked == 0 ? 0 : std::min(1.0, round_.marked / round_.acked);
  mark_share_ += (marks - mark_share_) / 16;
  losses_.add(round_.acked, lost - round_.spurious);
  judge_queue();
  if (queue_ <= target(1)) {
    queued_rounds_ = 0;
  } else if (queued_rounds_++ == 0) {
    queued_window_ = window_;
  }

  if (resting_ > 0) {
    if (--resting_ == 1 && restored_ > 0) window_ = std::max(window_, restored_);
  } else if (queue_ > target(window_)) {
    on_queue();
  } else if (round_.marked > 0) {
    cut(1 - mark_share_ / 2);
  } else if (losses_.exceeds(tolerance)) {
    cut(1 - std::clamp(losses_.share(), kCutByLoss, kCutMost));
    losses_.clear();
    resting_ = 1;
  } else if (round_.limited) {
    on_quiet(half_budget);
  }
  if (round_.forgone > 0 && round_.limited) cap_by_delivery();
  window_ = std::clamp(window_, kWindowMin, kWindowMax);
}

void QueueCongestion::on_queue() {
  if (queued_rounds_ > kRebaseRounds && window_ <= kRebaseWindow * queued_window_) {
    base_.restart(round_.delay_min);
    window_ = queued_window_;
    queued_rounds_ = 0;
    return;
  }
  const double delay = ns(std::max(round_.round_trip, round_.delay_min));
  cut(1 - std::min(kCutMost, kCutGain * queue_ / delay));
  drain();
}

// The next round shows the path without half of our packets; what it shows arrives a round later.
void QueueCongestion::drain() {
  restored_ = window_;
  window_ *= kDrainDepth;
  resting_ = 2;
}

void QueueCongestion::on_quiet(double half_budget) {
  const double best = *std::max_element(delivered_.begin(), delivered_.end());
  if (window_ >= kUnusedGain * best + kUnusedLeast) return;
  if (round_.forgone > 0 && losses_.share() > half_budget) {
    window_ += 1;
    return;
  }
  if (slow_start_) {
    slow_start_ = queue_ <= target(window_) / 2;
    window_ += round_.acked;
    return;
  }
  const double least =
      std::max(std::min(1.0, kSmallestShare * window_),
               std::min(kGrowthRoot * std::sqrt(window_), 1 + kGrowthShare * window_));
  quiet_rounds_ = queue_ < target(window_) / 4 ? quiet_rounds_ + 1 : 0;
  const double most = std::max(least, kQuickestGrowth * window_);
  growth_ = quiet_rounds_ > kQuietRounds ? std::clamp(2 * growth_, least, most) : least;
  window_ += growth_;
}

void QueueCongestion::cap_by_delivery() {
  const double best = *std::max_element(delivered_.begin(), delivered_.end());
  window_ = std::min(window_, std::max(kDeliveredLeast, kDeliveredGain * best));
}

void QueueCongestion::cut(double factor) {
  slow_start_ = false;
  window_ *= factor;
  growth_ = 0;
  quiet_rounds_ = 0;
  restored_ = 0;
}

void QueueCongestion::on_stall(Time) {
  // Whatever was in flight is gone; begin small and find the network's present state quickly.
  window_ = std::min(window_, 2.0);
  slow_start_ = true;
  resting_ = 0;
  restored_ = 0;
}

}  // namespace dlcp::core
