#include "core/flow_control/turns.h"

#include <algorithm>

namespace dlcp::core {

void Turns::on_data(Time now, Turn& turn) {
  now_ = turn.heard = now;
  if (turn.in_line) return;
  turn.in_line = true;
  line_.push_back(&turn);
}

void Turns::leave(Turn& turn) {
  if (!turn.in_line) return;
  turn.in_line = false;
  line_.erase(std::find(line_.begin(), line_.end(), &turn));
}

bool Turns::has(const Turn& turn) {
  if (!crowded()) return true;
  std::size_t before = 0;
  for (auto place = line_.begin(); place != line_.end() && before < kServed;) {
    if (*place == &turn) return true;
    const Duration silent = now_ - (*place)->heard;
    if (silent > kGone) {
      (*place)->in_line = false;
      place = line_.erase(place);
      continue;
    }
    if (silent <= kSilent) ++before;
    ++place;
  }
  return before < kServed;
}

}  // namespace dlcp::core
