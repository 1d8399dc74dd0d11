// Notices that this process did not run although a timer was due: it was stopped, or suspended with
// its host. Its peers may have been frozen with it, and their silence of that time says nothing.
#pragma once

#include <algorithm>
#include <utility>

#include "util/time.h"

namespace dlcp::core {

class PauseWatch {
 public:
  explicit PauseWatch(Duration peer_timeout) : least_(peer_timeout / kPausesPerTimeout) {}

  // We run, and `next` is the earliest timer that has not been served (kNever: none). Returns how
  // long we did not run although we should have; zero for what is no pause.
  Duration on_run(Time now, Time next) {
    const Time before = std::exchange(ran_at_, now);
    if (now - before < least_ || next == kNever) return Duration::zero();
    const Duration late = now - std::max(next, before);
    return late >= least_ ? late : Duration::zero();
  }

 private:
  // A timer that is served later than this share of the peer time-out is late because of a pause.
  static constexpr int kPausesPerTimeout = 8;

  Duration least_;
  Time ran_at_{};
};

}  // namespace dlcp::core
