// Puts the kernel's stamps of arrival, which are of CLOCK_REALTIME, on the clock of everything else
// (CLOCK_MONOTONIC). A process that is interrupted between reading the one clock and the other
// would shift every stamp by as long as it did not run, and so make delays look shorter than they
// are, for which congestion control has a long memory: pairs that were read far apart do not count.
#pragma once

#include <cstdint>
#include <optional>

#include "util/time.h"

namespace dlcp::datapath {

class StampClock {
 public:
  // One clock between two readings of the other, in ns.
  struct Reading {
    std::int64_t before = 0;
    std::int64_t realtime = 0;
    std::int64_t after = 0;
  };
  explicit StampClock(Reading (*read)() = read_clocks) : read_(read) {}

  // Reads the clocks if that was long ago: they drift, and anybody may set the realtime clock.
  void refresh(Time now);
  // The stamp's time. May be a little after `now`, where that was read before the packet came, and
  // is never more than a second from it, whatever was done to the clock.
  Time at(Time now, std::int64_t stamp_ns) const;

  static Reading read_clocks();

 private:
  Reading (*read_)();
  Time refreshed_at_ = Time::min();
  std::optional<std::int64_t> offset_;  // of realtime, to be added
};

}  // namespace dlcp::datapath
