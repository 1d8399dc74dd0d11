// Converts the kernel's arrival timestamps (CLOCK_REALTIME) to CLOCK_MONOTONIC, which everything
// else uses. If the process were interrupted between reading the two clocks, all timestamps would
// shift by the length of the interruption, and delays would look shorter than they are. Congestion
// control remembers minimum delays for long, so pairs of readings that are far apart are discarded.
#pragma once

#include <cstdint>
#include <optional>

#include "util/time.h"

namespace dlcp::datapath {

class StampClock {
 public:
  // One reading of the realtime clock between two of the monotonic one, in ns.
  struct Reading {
    std::int64_t before = 0;
    std::int64_t realtime = 0;
    std::int64_t after = 0;
  };
  explicit StampClock(Reading (*read)() = read_clocks) : read_(read) {}

  // Reads the clocks if the last reading is old, because they drift and the realtime clock can be
  // set.
  void refresh(Time now);
  // The monotonic time of a timestamp. It may be slightly after `now` if `now` was read before the
  // packet arrived. It is never more than a second from `now`, even if the realtime clock was set.
  Time at(Time now, std::int64_t stamp_ns) const;

  static Reading read_clocks();

 private:
  Reading (*read_)();
  Time refreshed_at_ = Time::min();
  std::optional<std::int64_t> offset_;  // added to realtime
};

}  // namespace dlcp::datapath
