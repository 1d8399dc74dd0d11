#include "shared_path.h"

#include <algorithm>
#include <cmath>

#include "flow.h"

namespace dlcp::test {
namespace {

constexpr std::uint32_t kWireBytes = 66;  // Ethernet, preamble and gap, IPv4, UDP

Duration seconds(double value) {
  return Duration(static_cast<std::int64_t>(value * 1e9));
}

}  // namespace

// Frames in flight still belong to the events.
SharedPath::~SharedPath() {
  for (; !events_.empty(); events_.pop())
    delete events_.top().frame;
}

std::unique_ptr<PathFrame> SharedPath::take() {
  if (spare_.empty()) return std::make_unique<PathFrame>();
  auto frame = std::move(spare_.back());
  spare_.pop_back();
  frame->marked = frame->data = frame->placed = false;
  frame->forward = true;
  frame->path = 0;
  return frame;
}

void SharedPath::recycle(std::unique_ptr<PathFrame> frame) {
  spare_.push_back(std::move(frame));
}

void SharedPath::push(Time at, Event::Kind kind, PathFrame* frame, PathFlow* flow) {
  events_.push({at, order_++, kind, frame, flow});
}

void SharedPath::send(Time at, std::unique_ptr<PathFrame> frame) {
  push(at, Event::Kind::kEnter, frame.release(), nullptr);
}

void SharedPath::call(Time at, PathFlow& flow) {
  push(std::max(at, now_), Event::Kind::kTimer, nullptr, &flow);
}

Duration SharedPath::jitter() {
  const double half = static_cast<double>(config_.jitter.count()) / 2;
  if (half == 0) return Duration::zero();
  double drawn = rng_.unit() * half;
  if (config_.shape == JitterShape::kHeavy) {
    drawn = half / 6 * std::pow(1 - rng_.unit(), -1 / 1.5);  // mean: 3 times the minimum
    drawn = std::min(drawn, 100 * half);
  } else if (config_.shape == JitterShape::kBursts) {
    if (now_ >= episode_ends_) {
      episode_ = !episode_;
      episode_ends_ = now_ + seconds(static_cast<double>(config_.base.count()) * 1e-9 * 10 *
                                     (0.2 - std::log(1 - rng_.unit())));
    }
    if (!episode_) drawn = 0;
  }
  return Duration(static_cast<std::int64_t>(drawn));
}

void SharedPath::deliver_after(Time from, std::unique_ptr<PathFrame> frame) {
  const double share = frame->forward ? 1 - config_.back_share : config_.back_share;
  Time at = from + seconds(static_cast<double>(base().count()) * 1e-9 * share) + jitter();
  if (frame->forward) at += config_.spread * frame->path / 16;
  if (config_.shape == JitterShape::kInOrder) {
    Time& last = frame->forward ? last_there_ : last_back_;
    at = last = std::max(at, last);
  }
  push(at, Event::Kind::kDeliver, frame.release(), nullptr);
}

void SharedPath::enter(std::unique_ptr<PathFrame> frame) {
  if (!frame->forward) {
    deliver_after(now_, std::move(frame));
    return;
  }
  const double wire_bits = (frame->bytes + kWireBytes) * 8.0;
  const Duration waits = std::max(idle_at_ - now_, Duration::zero());
  const double queued = static_cast<double>(waits.count()) * 1e-9 * rate() / 8;
  bool full = queued + frame->bytes > static_cast<double>(config_.buffer);
  if (config_.policer_burst > 0) {
    const auto most = static_cast<double>(config_.policer_burst);
    tokens_ = std::min(
        most, tokens_ + static_cast<double>((now_ - tokens_at_).count()) * 1e-9 * rate() / 8);
    tokens_at_ = now_;
    full = tokens_ < wire_bits / 8;
    if (!full) tokens_ -= wire_bits / 8;
  }
  if (frame->data) {
    ++totals_.frames;
    totals_.dropped += full;
  }
  if (full || (frame->data && rng_.chance(config_.loss))) {
    const Time would = now_ + waits + base() + config_.jitter;
    if (frame->data) frame->flow->on_dropped(*frame, would);
    recycle(std::move(frame));
    return;
  }
  const double delay = static_cast<double>(waits.count()) * 1e-9;
  totals_.delay_sum += frame->data ? delay : 0;
  totals_.delay_max = std::max(totals_.delay_max, delay);
  frame->marked = config_.ecn_above > 0 && queued > static_cast<double>(config_.ecn_above);
  if (config_.policer_burst > 0) {
    deliver_after(now_, std::move(frame));
    return;
  }
  idle_at_ = std::max(idle_at_, now_) + seconds(wire_bits / rate());
  deliver_after(idle_at_, std::move(frame));
}

void SharedPath::run_until(Time until) {
  while (!events_.empty() && events_.top().at <= until) {
    const Event event = events_.top();
    events_.pop();
    now_ = event.at;
    switch (event.kind) {
      case Event::Kind::kTimer:
        event.flow->on_timer();
        break;
      case Event::Kind::kEnter:
        enter(std::unique_ptr<PathFrame>(event.frame));
        break;
      case Event::Kind::kDeliver: {
        std::unique_ptr<PathFrame> frame(event.frame);
        frame->flow->on_frame(*frame);
        recycle(std::move(frame));
      }
    }
  }
  now_ = until;
}

}  // namespace dlcp::test
