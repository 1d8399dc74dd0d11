#include "simulate/opponents/nscc.h"

#include <algorithm>
#include <utility>

namespace dlcp::simulate {
namespace {

// The specification's constants, for the network to which it scales all others.
constexpr double kReferenceBytes = 150'000;  // 100 Gbit/s for 12 us
constexpr double kReferenceDelay = 12'000;   // ns
constexpr double kWindowMax = 1.5;           // bandwidth-delay products
constexpr double kProportional = 4;          // packets per RTT, without delay
constexpr double kFair = 1;                  // packets per RTT, at any delay without a mark
constexpr double kEver = 0.15;               // packets per adjustment, in all cases
constexpr double kFast = 0.25;        // of the acknowledged bytes, after a window without queueing
constexpr double kFastDelay = 1'000;  // ns: no queue
constexpr double kDecrease = 0.8;
constexpr double kDecreaseMost = 0.5;
constexpr double kMeanGain = 0.0125;
constexpr double kAdjustPackets = 8;
// DLCP's choice, because the specification does not define path selection.
constexpr std::uint8_t kSkipsSilent = 255;
constexpr double kAdaptDelay = 4;         // targets
constexpr double kAdaptAchieved = 0.125;  // of the largest window: flows above it are not adapted

double ns(Duration duration) {
  return static_cast<double>(duration.count());
}

double bandwidth_delay(double gbit_per_s, Duration base) {
  return gbit_per_s / 8 * ns(base);
}

}  // namespace

WindowConfig NsccTransport::defaults(Duration base_rtt) {
  WindowConfig config;
  config.paths = 256;
  config.data_trimmable = true;
  config.timeout_min = 10 * base_rtt;
  return config;
}

ClassPlan NsccTransport::switches(const NsccConfig& config, double gbit_per_s) {
  const double product = bandwidth_delay(gbit_per_s, config.base_rtt);
  ClassPlan plan;
  plan.trims = true;
  plan.trimmed_bytes = config.window.header_bytes;
  plan.marks_at_departure = true;
  for (QueuePlan& queue : plan.queues) {
    queue.limit_bytes = static_cast<std::size_t>(product);
    queue.mark.from = static_cast<std::size_t>(0.2 * product);
    queue.mark.full = static_cast<std::size_t>(0.8 * product);
  }
  QueuePlan& control = plan.queues[static_cast<std::size_t>(SwitchQueue::kStrictHigh)];
  control.mark = {};
  control.limit_bytes *= 100;  // for the headers of an incast of a thousand senders
  return plan;
}

NsccTransport::NsccTransport(Fabric& fabric, PacketPool& pool, TransferListener& listener,
                             const NsccConfig& config)
    : WindowTransport(fabric, pool, listener, config.window),
      nscc_(config),
      packet_(config.window.packet_bytes),
      base_(ns(config.base_rtt)),
      target_(config.target_share * base_),
      window_max_(kWindowMax * bandwidth_delay(fabric.plan().host.gbit_per_s, config.base_rtt)),
      scale_(window_max_ / kWindowMax / kReferenceBytes),
      rng_(config.window.seed) {}

void NsccTransport::on_open(std::uint32_t index) {
  State& state = states_.emplace_back();
  state.window = window_max_;
  state.mean_delay = 0;
  state.path = static_cast<std::uint16_t>(rng_.below(nscc_.window.paths));
  state.skip.resize(nscc_.window.paths);
  store(index, state);
}

void NsccTransport::store(std::uint32_t index, State& state) {
  state.window = std::clamp(state.window, packet_, window_max_);
  flow(index).window = state.window / packet_;
}

bool NsccTransport::adapted(Time now, std::uint32_t index, double delay, double bytes,
                            bool arrived) {
  State& state = states_[index];
  if (arrived) state.achieved += bytes;
  if (now >= state.adapts_at) {
    const bool bad = state.trimmed || delay > kAdaptDelay * target_;
    const bool judged = state.adapts_at != Time{};
    if (judged && bad && state.achieved < kAdaptAchieved * window_max_) {
      state.window = std::max(state.achieved, packet_);
      state.ignored = flow(index).in_flight * packet_;
      state.increase = 0;
      state.received = 0;
    }
    state.trimmed = false;
    state.achieved = 0;
    state.adapts_at = now + Duration(static_cast<std::int64_t>(base_ + target_));
  }
  if (state.ignored <= 0) return false;
  state.ignored -= bytes;
  return true;
}

void NsccTransport::grow_fast(State& state, double bytes, double delay) {
  if (delay > kFastDelay) {
    state.calm = 0;
    state.fast = false;
    return;
  }
  state.calm += bytes;
  state.fast = state.fast || state.calm > state.window;
  if (state.fast) state.window += bytes * kFast * scale_;
}

void NsccTransport::steer(Time now, State& state, double bytes, double delay, bool marked) {
  if (!marked && delay < target_) {
    grow_fast(state, bytes, delay);
    const double b = target_ / kReferenceDelay;
    if (!state.fast)
      state.increase += kProportional * packet_ * scale_ * b * bytes * (target_ - delay) / target_;
  } else if (!marked) {
    state.fast = false;
    state.increase += kFair * packet_ * scale_ * bytes;
  } else if (delay >= target_) {
    state.fast = false;
    const bool rested = now - state.decreased_at > nscc_.base_rtt;
    if (state.mean_delay > target_ && rested) {
      state.decreased_at = now;
      const double above = (state.mean_delay - target_) / state.mean_delay;
      state.window *= std::max(1 - kDecrease * above, kDecreaseMost);
    }
  } else {
    state.fast = false;
  }
}

void NsccTransport::adjust(Time now, State& state) {
  const bool period = now - state.adjusted_at > nscc_.base_rtt;
  if (state.received < kAdjustPackets * packet_ && !period) return;
  state.window += state.increase / state.window;
  if (period) {
    state.window += kEver * packet_ * scale_;
    state.adjusted_at = now;
  }
  state.increase = 0;
  state.received = 0;
}

void NsccTransport::on_answer(Time now, std::uint32_t index, const Answer& answer) {
  State& state = states_[index];
  learn_path(state, answer);
  if (!answer.news) return;
  const double delay = std::max(0.0, ns(answer.round_trip) - base_);
  state.mean_delay += kMeanGain * (delay - state.mean_delay);
  if (!adapted(now, index, delay, packet_, true)) {
    steer(now, state, packet_, delay, answer.marked);
    state.received += packet_;
    adjust(now, state);
  }
  store(index, state);
}

void NsccTransport::on_trimmed(Time now, std::uint32_t index, std::uint32_t sequence) {
  lose(index, sequence);
  State& state = states_[index];
  state.trimmed = true;
  state.fast = false;
  state.calm = 0;
  adapted(now, index, 0, packet_, false);
  store(index, state);
}

void NsccTransport::on_timeout(Time, std::uint32_t index) {
  states_[index].trimmed = true;
}

void NsccTransport::on_silence(std::uint32_t index, std::uint16_t path) {
  if (nscc_.spraying == Spraying::kBitmap) states_[index].skip[path] = kSkipsSilent;
}

void NsccTransport::learn_path(State& state, const Answer& answer) const {
  if (nscc_.spraying == Spraying::kBitmap && answer.marked)
    state.skip[answer.path] = std::max<std::uint8_t>(state.skip[answer.path], 1);
  if (nscc_.spraying == Spraying::kRecycled && !answer.marked) state.good.push_back(answer.path);
}

std::uint16_t NsccTransport::choose_path(std::uint32_t index, std::uint32_t) {
  State& state = states_[index];
  if (!state.good.empty()) {
    const std::uint16_t path = state.good.front();
    state.good.pop_front();
    return path;
  }
  const auto paths = nscc_.window.paths;
  for (unsigned tries = 0; tries < paths; ++tries) {
    state.path = static_cast<std::uint16_t>((state.path + 1) % paths);
    if (state.skip[state.path] == 0) break;
    --state.skip[state.path];
  }
  return state.path;
}

}  // namespace dlcp::simulate
