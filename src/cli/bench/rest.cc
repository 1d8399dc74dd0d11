#include "cli/bench/rest.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

namespace dlcp::cli {
namespace {

// Short beside the round trips of networks for which there are more ranks than processors.
constexpr timespec kNap{0, 100'000};

Idle chosen(const BenchCase& bench_case) {
  if (bench_case.idle != Idle::kAuto) return bench_case.idle;
  const bool own_processors =
      !bench_case.one_host || bench_case.ranks <= ::sysconf(_SC_NPROCESSORS_ONLN);
  return own_processors ? Idle::kSpin : Idle::kYield;
}

}  // namespace

Rest::Rest(const BenchCase& bench_case) : idle_(chosen(bench_case)) {}

void Rest::operator()() const {
  if (idle_ == Idle::kYield) ::sched_yield();
  if (idle_ == Idle::kSleep) ::nanosleep(&kNap, nullptr);
}

}  // namespace dlcp::cli
