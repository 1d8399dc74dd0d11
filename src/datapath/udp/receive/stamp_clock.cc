#include "datapath/udp/receive/stamp_clock.h"

#include <time.h>

#include <algorithm>

namespace dlcp::datapath {
namespace {

constexpr Duration kRefreshEvery = 1ms;
constexpr std::int64_t kCloseNs = 1000;  // readings without an interruption
constexpr int kTries = 4;
// Largest accepted interval between the readings of the best try if an offset is already known.
constexpr std::int64_t kFarNs = 10'000;
constexpr Duration kFromNow = 1s;

std::int64_t read_clock(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

StampClock::Reading StampClock::read_clocks() {
  Reading reading;
  reading.before = read_clock(CLOCK_MONOTONIC);
  reading.realtime = read_clock(CLOCK_REALTIME);
  reading.after = read_clock(CLOCK_MONOTONIC);
  return reading;
}

void StampClock::refresh(Time now) {
  if (offset_ && now - refreshed_at_ < kRefreshEvery) return;
  Reading best = read_();
  for (int i = 1; i < kTries && best.after - best.before > kCloseNs; ++i) {
    const Reading again = read_();
    if (again.after - again.before < best.after - best.before) best = again;
  }
  if (offset_ && best.after - best.before > kFarNs) return;  // the next call tries again
  refreshed_at_ = now;
  offset_ = best.before + (best.after - best.before) / 2 - best.realtime;
}

Time StampClock::at(Time now, std::int64_t stamp_ns) const {
  const Time stamped = time_from_ns(stamp_ns + offset_.value_or(0));
  return std::clamp(stamped, now - kFromNow, now + kFromNow);
}

}  // namespace dlcp::datapath
