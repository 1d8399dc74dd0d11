// Detects that this process did not run although a timer was due: it was stopped, or suspended with
// its host. Peers may have been stopped at the same time, so their silence proves nothing.
#pragma once

#include <algorithm>
#include <utility>

#include "util/time.h"

namespace dlcp::core {

class PauseWatch {
 public:
  explicit PauseWatch(Duration peer_timeout) : least_(peer_timeout / kPausesPerTimeout) {}

  // Called whenever the process runs; `next` is the earliest timer that has not been served
  // (kNever: none). Returns how long the process was late, if that indicates a pause; otherwise
  // zero.
  Duration on_run(Time now, Time next) {
    const Time before = std::exchange(ran_at_, now);
    if (now - before < least_ || next == kNever) return Duration::zero();
    const Duration late = now - std::max(next, before);
    return late >= least_ ? late : Duration::zero();
  }

 private:
  // A timer that is late by at least this fraction of the peer timeout indicates a pause.
  static constexpr int kPausesPerTimeout = 8;

  Duration least_;
  Time ran_at_{};
};

}  // namespace dlcp::core
