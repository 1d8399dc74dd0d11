// Times in frames.
#pragma once

#include <cstdint>

#include "util/time.h"

namespace dlcp::wire {

// Send time on the wire: 128 ns units, 32 bits.
constexpr std::uint32_t wire_time(Time t) {
  return static_cast<std::uint32_t>(ns_of(t) >> 7);
}
// Duration of `units` of 128 ns.
constexpr Duration wire_duration(std::int64_t units) {
  return Duration(units * 128);
}
// The time of `stamp`, if `now` is at most 549 s later. A stamp returns to the host that made it,
// so that it is never in the future.
constexpr Time from_wire_time(std::uint32_t stamp, Time now) {
  const std::uint32_t behind = wire_time(now) - stamp;
  return time_from_ns(((ns_of(now) >> 7) - std::int64_t{behind}) * 128);
}

}  // namespace dlcp::wire
