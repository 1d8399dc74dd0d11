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

bool Turns::has(const Turn& turn) const {
  std::size_t before = 0;
  for (const Turn* place : line_) {
    if (place == &turn || before == kServed) break;
    if (now_ - place->heard <= kSilent) ++before;
  }
  return before < kServed;
}

}  // namespace dlcp::core
