#include "core/delay_filter.h"

#include <algorithm>

namespace dlcp::core {
namespace {

// An epoch is long enough that the sender has emptied the queue several times within it, and on
// short paths long enough to outlive a pause of the application.
constexpr int kEpochRounds = 256;
constexpr Duration kEpochLeast = 500ms;
constexpr Duration kEpochMost = 10s;
constexpr int kJitterGain = 16;

}  // namespace

Duration BaseDelay::credible(Duration sample) {
  recent_[seen_++ % recent_.size()] = sample;
  if (seen_ < recent_.size()) return std::max(sample, base_);
  Duration first = Duration::max();
  Duration second = Duration::max();
  for (const Duration each : recent_) {
    second = std::min(second, std::max(first, each));
    first = std::min(first, each);
  }
  return second;
}

void BaseDelay::add(Time now, Duration sample, Duration round_trip) {
  const Duration smallest = credible(sample);
  if (now >= epoch_ends_) {
    base_ = next_ > Duration::zero() ? next_ : smallest;
    next_ = smallest;
    epoch_ends_ = now + std::clamp<Duration>(kEpochRounds * round_trip, kEpochLeast, kEpochMost);
  }
  base_ = std::min(base_, smallest);
  next_ = std::min(next_, smallest);
}

void Jitter::add(Duration sample) {
  if (last_ > Duration::zero()) {
    const Duration step = sample > last_ ? sample - last_ : last_ - sample;
    mean_step_ += (step - mean_step_) / kJitterGain;
  }
  last_ = sample;
}

}  // namespace dlcp::core
