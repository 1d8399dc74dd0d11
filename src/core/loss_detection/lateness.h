// Packet A is late if packet B was sent after it and acknowledged before it (flight.h). Lateness is
// the largest difference between the times that the ACKs of A and B took, in the present epoch and
// the one before. An epoch lasts 64 RTTs, and at least 100 ms.
#pragma once

#include <algorithm>
#include <utility>

#include "util/time.h"

namespace dlcp::core {

struct Lateness {
  Duration now{0};
  Duration before{0};
  void add(Duration late) { now = std::max(now, late); }
  void end_epoch() { before = std::exchange(now, Duration(0)); }
  // With a margin of a quarter, because other packets may be even later.
  Duration allowance() const { return std::max(now, before) * 5 / 4; }
};

}  // namespace dlcp::core
