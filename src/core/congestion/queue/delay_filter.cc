#include "core/congestion/queue/delay_filter.h"

#include <algorithm>
#include <utility>

namespace dlcp::core {
namespace {

// On short paths an epoch is long enough to outlast a pause of the application.
constexpr Duration kEpochLeast = 500ms;
constexpr Duration kEpochMost = 10s;
// A cut, and thus an empty queue, occurs about every eight rounds. With a longer memory and large
// jitter, the emptiest round would be too low.
constexpr int kQuietRounds = 8;
// With fewer samples the smallest is often far above the smallest possible one.
constexpr int kSpreadSamples = 7;
constexpr int kGain = 8;  // rounds, or steps

}  // namespace

Duration BaseDelay::credible(Duration sample) {
  recent_[seen_++ % recent_.size()] = sample;
  if (std::exchange(first_, false)) return std::min(sample, base_);
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
    epoch_ends_ =
        now + std::clamp<Duration>(kBaseEpochRounds * round_trip, kEpochLeast, kEpochMost);
  }
  base_ = std::min(base_, smallest);
  next_ = std::min(next_, smallest);
}

void DelaySpread::add(int samples, Duration sum, Duration smallest) {
  smallest_ = samples_ == 0 ? smallest : std::min(smallest_, smallest);
  samples_ += samples;
  sum_ += sum;
  if (samples_ < kSpreadSamples) return;
  const Duration spread = sum_ / samples_ - smallest_;
  spread_ = known_ ? spread_ + (spread - spread_) / kGain : spread;
  known_ = true;
  samples_ = 0;
  sum_ = Duration::zero();
}

void MeanStep::add(Duration value) {
  if (last_ > Duration::zero()) {
    const Duration step = value > last_ ? value - last_ : last_ - value;
    mean_step_ += (step - mean_step_) / kGain;
  }
  last_ = value;
}

void QuietDelay::add(Duration round_mean) {
  if (rounds_++ == kQuietRounds) {
    quiet_ = next_;
    next_ = Duration::max();
    rounds_ = 1;
  }
  quiet_ = std::min(quiet_, round_mean);
  next_ = std::min(next_, round_mean);
}

Duration AnswerWait::wait_of(Duration answer) {
  sum_ += answer;
  ++answers_;
  last_[seen_++ % last_.size()] = answer;
  const Duration shortest =
      *std::min_element(last_.begin(), last_.begin() + std::min(seen_, last_.size()));
  return shortest - std::min(quiet_.value(), shortest);
}

void AnswerWait::end_round() {
  quiet_.add(sum_ / answers_);
  sum_ = Duration::zero();
  answers_ = 0;
}

}  // namespace dlcp::core
