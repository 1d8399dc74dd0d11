#include "yardstick.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace dlcp::test {
namespace {

constexpr std::uint32_t kDatagramBytes = 1448;

double seconds(Time time) {
  return static_cast<double>(ns_of(time)) * 1e-9;
}
Duration duration(double seconds) {
  return Duration(static_cast<std::int64_t>(seconds * 1e9));
}

}  // namespace

void CubicModel::on_ack(const Ack& ack) {
  base_ = std::min(base_, ack.round_trip);
  if (!ack.limited) return;
  if (slow_start_) {
    window_ += ack.packets;
    // HyStart: ends slow start when the delay has grown by an eighth, at least 4 ms.
    if (ack.smoothed > base_ + std::clamp(base_ / 8, 4e-3, 16e-3)) slow_start_ = false;
    if (!slow_start_) {
      most_ = reduced_ = window_;
      cut_at_ = ack.now;
    }
    return;
  }
  constexpr double kC = 0.4;
  const double k = std::cbrt((most_ - reduced_) / kC);
  const double t = ack.now - cut_at_ + ack.smoothed;
  const double cubic = kC * std::pow(t - k, 3) + most_;
  const double reno = reduced_ + 3 * 0.3 / 1.7 * (ack.now - cut_at_) / ack.smoothed;
  const double goal = std::min(std::max(cubic, reno), 1.5 * window_);
  if (goal > window_) window_ += (goal - window_) / window_ * ack.packets;
}

void CubicModel::on_loss(double now, double smoothed, double) {
  if (cut_at_ >= 0 && now < cut_at_ + smoothed && !slow_start_) return;
  most_ = window_ < most_ ? window_ * 0.85 : window_;  // fast convergence
  window_ = reduced_ = std::max(2.0, window_ * 0.7);
  slow_start_ = false;
  cut_at_ = now;
}

void BbrModel::on_ack(const Ack& ack) {
  base_ = std::min(base_, ack.round_trip);
  round_acked_ += ack.packets;
  if (rates_.empty()) rates_.push_back(0);
  rates_.back() = std::max(rates_.back(), ack.rate);
  bandwidth_ = *std::max_element(rates_.begin(), rates_.end());
  if (phase_ == Phase::kDrain && ack.in_flight <= bdp()) {
    phase_ = Phase::kProbe;
    cycle_began_ = ack.now;
  }
  if (phase_ == Phase::kProbe && ack.now - cycle_began_ > base_) {
    cycle_began_ = ack.now;
    cycle_ = (cycle_ + 1) % 8;
    // Once per cycle the ceiling set by losses is raised as a trial.
    if (cycle_ == 0) highest_ *= 1.25;
  }
  if (ack.round_ends) end_round(ack);
}

void BbrModel::end_round(const Ack& ack) {
  if (round_lost_ > 0.02 * (round_acked_ + round_lost_) && round_lost_ >= 3) {
    highest_ =
        std::max({0.85 * (ack.in_flight + round_lost_), 0.7 * std::min(highest_, 2 * bdp()), 4.0});
    if (phase_ == Phase::kStartup) phase_ = Phase::kDrain;
  }
  round_lost_ = round_acked_ = 0;
  if (phase_ == Phase::kStartup) {
    flat_rounds_ = bandwidth_ < 1.25 * full_ ? flat_rounds_ + 1 : 0;
    full_ = std::max(full_, flat_rounds_ == 0 ? bandwidth_ : 0);
    if (flat_rounds_ >= 3) phase_ = Phase::kDrain;
  }
  rates_.push_back(0);
  if (rates_.size() > 10) rates_.pop_front();
}

void BbrModel::on_loss(double, double, double) {
  ++round_lost_;
}

double BbrModel::window() const {
  if (bandwidth_ == 0) return 10;
  const double gain = phase_ == Phase::kStartup ? 2.885 : 2;
  return std::max(4.0, std::min(gain * bdp() + 3, highest_));
}

double BbrModel::pace(double smoothed) const {
  if (bandwidth_ == 0) return 2.885 * 10 / smoothed;
  constexpr std::array<double, 8> kGains = {1.25, 0.75, 1, 1, 1, 1, 1, 1};
  const double gain = phase_ == Phase::kStartup ? 2.885
                      : phase_ == Phase::kDrain ? 0.35
                                                : kGains[static_cast<std::size_t>(cycle_)];
  return std::max(gain * bandwidth_, 1.0);
}

void TcpFlow::send() {
  const Time now = path_.now();
  for (;;) {
    if (in_flight_ >= model_->window()) {
      limited_ = true;
      return;
    }
    if (now < next_send_) {
      if (next_send_ < wakes_at_) {
        wakes_at_ = next_send_;
        path_.call(next_send_, *this);
      }
      return;
    }
    // A few packets at a time, as with segmentation offload: about a millisecond at this pace.
    const double pace = model_->pace(smoothed_);
    const auto burst = static_cast<int>(std::clamp(pace * 1e-3, 1.0, 10.0));
    for (int i = 0; i < burst; ++i) {
      auto frame = path_.take();
      frame->flow = this;
      frame->data = true;
      frame->bytes = kDatagramBytes;
      frame->number = sent_.size();
      frame->sent_at = now;
      sent_.push_back({now, acked_, last_ack_ == Time{} ? now : last_ack_});
      card_free_at_ = std::max(card_free_at_, now) +
                      duration((kDatagramBytes + 66) * 8 / (2 * path_.config().rate));
      path_.send(card_free_at_, std::move(frame));
      ++in_flight_;
    }
    next_send_ = std::max(next_send_, now) + duration(burst / pace);
  }
}

void TcpFlow::on_timer() {
  const Time now = path_.now();
  if (wakes_at_ <= now) wakes_at_ = kNever;
  while (!lost_at_.empty() && lost_at_.front() <= now) {
    lost_at_.pop_front();
    model_->on_loss(seconds(now), smoothed_, in_flight_);
    in_flight_ -= 1;
  }
  send();
}

void TcpFlow::on_dropped(const PathFrame&, Time would_arrive) {
  // A loss is known when a later packet is acknowledged and the reordering time has passed.
  const Time known = would_arrive + duration(smoothed_ / 4);
  lost_at_.insert(std::upper_bound(lost_at_.begin(), lost_at_.end(), known), known);
  path_.call(known, *this);
}

void TcpFlow::on_frame(const PathFrame& frame) {
  if (!frame.forward) {
    acknowledge(frame);
    return;
  }
  delivered_ += 1;
  auto back = path_.take();
  back->flow = this;
  back->forward = false;
  back->number = frame.number;
  back->bytes = 66;
  path_.send(path_.now(), std::move(back));
}

void TcpFlow::acknowledge(const PathFrame& frame) {
  const Time now = path_.now();
  const Sent& packet = sent_[frame.number];
  in_flight_ -= 1;
  acked_ += 1;
  TcpModel::Ack ack;
  ack.now = seconds(now);
  ack.round_trip = seconds(now) - seconds(packet.at);
  smoothed_ = heard_ ? smoothed_ + (ack.round_trip - smoothed_) / 8 : ack.round_trip;
  heard_ = true;
  ack.smoothed = smoothed_;
  ack.packets = 1;
  const double span = std::max(seconds(now) - seconds(packet.acked_at), ack.round_trip);
  ack.rate = (acked_ - packet.acked_then) / span;
  ack.in_flight = in_flight_;
  ack.limited = limited_ || in_flight_ + 1 >= model_->window() * 0.9;
  if (frame.number >= round_ends_with_) {
    ack.round_ends = true;
    round_ends_with_ = sent_.size();
    limited_ = false;
  }
  last_ack_ = now;
  model_->on_ack(ack);
  send();
}

}  // namespace dlcp::test
