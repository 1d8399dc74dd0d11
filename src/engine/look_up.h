// How long until the helper thread looks whether somebody still polls. Each look costs the poller
// some ten microseconds where both share a core, so the pause doubles while every look finds
// somebody polling; whoever has just begun may also soon have ended.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "util/time.h"

namespace dlcp::engine {

class LookUp {
 public:
  // The first pause, and the longest.
  LookUp(Duration least, Duration most) : least_(least), most_(most) {}

  // Somebody polls: sleep so long, and longer the next time. Needs no lock.
  Duration next() {
    const Duration pause = planned();
    pause_ns_.store(std::min(2 * pause, most_).count(), std::memory_order_relaxed);
    return pause;
  }
  // Nobody polls.
  void reset() { pause_ns_.store(least_.count(), std::memory_order_relaxed); }
  // The next pause; the present one is no longer.
  Duration planned() const { return Duration(pause_ns_.load(std::memory_order_relaxed)); }

 private:
  const Duration least_;
  const Duration most_;
  std::atomic<std::int64_t> pause_ns_{least_.count()};
};

}  // namespace dlcp::engine
