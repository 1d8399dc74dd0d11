// How long the helper thread sleeps before it looks whether somebody still polls. Each look costs
// the poller some ten microseconds where both share a core, so the pause doubles while every look
// finds somebody polling; whoever has just begun may also soon have ended.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "util/time.h"

namespace dlcp::engine {

class LookUp {
 public:
  static constexpr Duration kLeast = std::chrono::milliseconds(5);
  static constexpr Duration kMost = std::chrono::milliseconds(60);

  // Somebody polls: sleep so long, and longer the next time. Needs no lock.
  Duration next() {
    const Duration pause = planned();
    pause_ns_.store(std::min(2 * pause, kMost).count(), std::memory_order_relaxed);
    return pause;
  }
  // Nobody polls.
  void reset() { pause_ns_.store(kLeast.count(), std::memory_order_relaxed); }
  // The next pause; the present one is no longer.
  Duration planned() const { return Duration(pause_ns_.load(std::memory_order_relaxed)); }

 private:
  std::atomic<std::int64_t> pause_ns_{kLeast.count()};
};

}  // namespace dlcp::engine
