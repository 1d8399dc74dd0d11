// The pause until the helper thread next checks whether callers still poll. Each check costs the
// poller about ten microseconds if both share a core, so the pause doubles while every check finds
// callers polling. It starts short, because polling that has just begun may end soon.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "util/time.h"

namespace dlcp::engine {

class LookUp {
 public:
  // The first and the longest pause.
  LookUp(Duration least, Duration most) : least_(least), most_(most) {}

  // Callers poll: returns the pause to sleep and doubles the next one. Needs no lock.
  Duration next() {
    const Duration pause = planned();
    pause_ns_.store(std::min(2 * pause, most_).count(), std::memory_order_relaxed);
    return pause;
  }
  // No caller polls.
  void reset() { pause_ns_.store(least_.count(), std::memory_order_relaxed); }
  // The next pause, which is at least as long as the current one.
  Duration planned() const { return Duration(pause_ns_.load(std::memory_order_relaxed)); }

 private:
  const Duration least_;
  const Duration most_;
  std::atomic<std::int64_t> pause_ns_{least_.count()};
};

}  // namespace dlcp::engine
