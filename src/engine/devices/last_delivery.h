// If the application has not destroyed its communicators, exit() waits here for copied messages:
// their sends are done, but the messages have not arrived. The helper threads deliver them. The
// wait takes no lock, because a signal handler may have called exit() in a thread that
// holds one.
#pragma once

#include <atomic>
#include <cstddef>
#include <ctime>

#include "engine/host/clock.h"
#include "util/time.h"

namespace dlcp::engine {

struct LastDelivery {
  std::atomic<std::size_t> undelivered{0};  // copied messages of all lanes
  std::atomic<Duration> linger{Duration{0}};
  std::atomic<bool> has_begun{false};

  // Returns when all have arrived, or after `linger`.
  void wait() {
    constexpr timespec kPause{0, 200'000};
    has_begun = true;
    const Time end = steady_now() + linger.load();
    while (undelivered.load() > 0 && steady_now() < end)
      nanosleep(&kPause, nullptr);
  }
};

}  // namespace dlcp::engine
