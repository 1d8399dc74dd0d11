#include "nccl/loss/layer_order.h"

#include <algorithm>

namespace dlcp::nccl {
namespace {

constexpr std::uint32_t kRepeatsMin = 4;  // fewer repeats are not a pattern

std::uint64_t signature_of(const Collective& collective) {
  return collective.count << 16 | static_cast<std::uint64_t>(collective.function) << 8 |
         static_cast<std::uint64_t>(collective.type);
}

}  // namespace

void LayerOrder::count_repeats(std::uint64_t signature) {
  for (std::size_t distance = 1; distance <= kStepMax; ++distance) {
    const bool same = seen_ >= distance && history_[(seen_ - distance) % kStepMax] == signature;
    repeats_[distance] = same ? repeats_[distance] + 1 : 0;
  }
  history_[seen_ % kStepMax] = signature;
}

void LayerOrder::look_for_period() {
  if (period_ != 0 && repeats_[period_] == 0) period_ = 0;
  for (std::size_t length = 1; period_ == 0 && length <= kStepMax; ++length) {
    if (repeats_[length] >= std::max<std::size_t>(length, kRepeatsMin)) {
      period_ = length;
      period_from_ = seen_;
      pauses_.assign(length, Duration::zero());
    }
  }
}

bool LayerOrder::started(Time now, const Collective& collective) {
  const Duration pause = seen_ > 0 ? now - last_ : Duration::zero();
  last_ = now;
  count_repeats(signature_of(collective));
  look_for_period();
  const std::uint64_t at = seen_++;
  if (period_ < 2) return false;  // equal collectives have no order
  const std::size_t position = at % period_;
  Duration& smoothed = pauses_[position];
  const bool first_time = at < period_from_ + period_;
  smoothed = first_time ? pause : smoothed + (pause - smoothed) / 4;
  if (first_time) return false;
  const auto longest = std::ranges::max_element(pauses_);
  const auto first = static_cast<std::size_t>(longest - pauses_.begin());
  const std::size_t order = (position + period_ - first) % period_;
  return order >= period_ - std::max<std::size_t>(1, period_ / kUrgentShare);
}

}  // namespace dlcp::nccl
