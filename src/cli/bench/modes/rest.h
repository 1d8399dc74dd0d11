// The pause of a rank between two polls that found nothing to do: nothing, sched_yield, or a short
// sleep.
#pragma once

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "cli/bench/cases/bench_case.h"

namespace dlcp::cli {

class Rest {
 public:
  explicit Rest(const BenchCase& c) : idle_(c.idle) {
    if (idle_ != Idle::kAuto) return;
    const bool own_processors = !c.one_host || c.ranks <= ::sysconf(_SC_NPROCESSORS_ONLN);
    idle_ = own_processors ? Idle::kSpin : Idle::kYield;
  }
  void operator()() const {
    // --idle sleep is for emulated slow networks with more ranks than processors. Their round trips
    // take milliseconds, so 0.1 ms does not matter.
    constexpr timespec kNap{0, 100'000};
    if (idle_ == Idle::kYield) ::sched_yield();
    if (idle_ == Idle::kSleep) ::nanosleep(&kNap, nullptr);
  }

 private:
  Idle idle_;  // not kAuto
};

}  // namespace dlcp::cli
