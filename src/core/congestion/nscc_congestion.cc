#include "core/congestion/nscc_congestion.h"

#include <algorithm>

namespace dlcp::core {
namespace {

// 100 Gbit/s for 20 us in packets of 4 KiB.
constexpr double kWindowFirst = 64;

// Constants of the specification; rates are in packets per RTT.
constexpr double kBaseShare = 0.75;   // the target, as share of the base delay
constexpr double kProportional = 4;   // without a queue
constexpr double kFair = 1;           // with any queue, without marks
constexpr double kFast = 0.25;        // share of the acknowledged packets
constexpr double kFastQueue = 0.125;  // of the target; below, the queue counts as empty
constexpr double kDecrease = 0.8;
constexpr double kMeanGain = 0.125;
// Constants of DLCP.
constexpr double kUnmarked = 2;  // times the target

}  // namespace

NsccCongestion::NsccCongestion(Duration target_delay)
    : target_least_(ns(target_delay)), window_(kWindowFirst) {}

double NsccCongestion::target() const {
  return std::max(target_least_, kBaseShare * ns(base_.value()));
}

void NsccCongestion::on_delay(Time now, Duration delay, Duration) {
  base_.add(now, delay, round_trip_);
  delay_sum_ += delay;
  ++delays_;
}

void NsccCongestion::hear_delays() {
  if (delays_ == 0) return;
  queue_ = std::max(0.0, ns(delay_sum_ / delays_) - ns(base_.value()));
  mean_queue_ += kMeanGain * (queue_ - mean_queue_);
  delay_sum_ = Duration::zero();
  delays_ = 0;
}

void NsccCongestion::on_ack(const AckSample& sample) {
  hear_delays();
  round_trip_ = sample.round_trip;
  round_.add(sample);
  steer(sample);
  const bool reported = round_.acked > 0 || round_.lost > round_.spurious || round_.forgone > 0;
  if (sample.now >= round_ends_ && reported) end_round(sample.now);
  window_ = std::clamp(window_, kWindowMin, kWindowMax);
}

void NsccCongestion::steer(const AckSample& sample) {
  const bool long_queue = queue_ >= target();
  const bool marked = sample.marked > 0 || queue_ >= kUnmarked * target();
  if (marked) slow_start_ = false;
  if (queue_ > kFastQueue * target() || marked)
    calm_ = 0;
  else
    calm_ += sample.acked;
  if (long_queue && marked) return decrease(sample.now);
  if (sample.acked > sample.marked) grow(sample.acked - sample.marked);
}

void NsccCongestion::grow(double packets) {
  if (!(round_.limited || limited_before_)) return;
  if (window_ >= delivered_.usable_window(round_.acked)) return;
  const double room = std::max(0.0, 1 - queue_ / target());
  slow_start_ = slow_start_ && room >= 0.5;
  if (slow_start_)
    window_ += packets;
  else if (calm_ > window_)
    window_ += kFast * packets;
  else
    window_ += std::max(kProportional * room, kFair) * packets / std::max(window_, 1.0);
}

void NsccCongestion::decrease(Time now) {
  if (mean_queue_ <= target() || now <= rests_until_) return;
  rests_until_ = now + round_trip_;
  const double above = (mean_queue_ - target()) / mean_queue_;
  window_ *= std::max(1 - kDecrease * above, 1 - kCutMost);
  losses_.keep();
}

void NsccCongestion::end_round(Time now) {
  round_ends_ = now + round_trip_;
  delivered_.add(now, round_.acked);
  judge_losses();
  limited_before_ = round_.limited;
  round_ = {};
}

void NsccCongestion::judge_losses() {
  if (const auto before = losses_.end_round(round_)) {
    window_ = std::max(window_, before->window);
    slow_start_ = before->slow_start;
  }
  const bool cuts = losses_.exceed();
  if (cuts) {
    const double share = losses_.cut({window_, slow_start_});
    window_ = std::min(window_ * (1 - share), std::max(round_.acked, 1.0));
  }
  if (cuts || losses_.exceed_budget()) {
    slow_start_ = false;
    calm_ = 0;
  }
  if (round_.forgone > 0 && round_.limited) window_ = std::min(window_, delivered_.lossy_window());
}

void NsccCongestion::on_stall(Time) {
  // The packets in flight are lost: start with a small window and grow fast.
  window_ = std::min(window_, kWindowSmall);
  slow_start_ = true;
  calm_ = 0;
  losses_.keep();
}

}  // namespace dlcp::core
