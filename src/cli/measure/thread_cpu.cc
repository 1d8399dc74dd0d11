#include "cli/measure/thread_cpu.h"

#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>

namespace dlcp::cli {
namespace {

// The clock that pthread_getcpuclockid() returns, for threads of which only the kernel's id is
// known.
clockid_t cpu_clock_of(pid_t thread) {
  constexpr clockid_t kThread = 4;
  constexpr clockid_t kScheduled = 2;  // nanoseconds that the thread has run
  return static_cast<clockid_t>(~static_cast<unsigned>(thread) << 3) | kThread | kScheduled;
}

}  // namespace

Threads threads_of_process() {
  Threads threads;
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", unreadable))
    threads.insert(std::atoi(entry.path().filename().c_str()));
  return threads;
}

Threads new_threads(const Threads& before, const Threads& now) {
  Threads added;
  std::ranges::set_difference(now, before, std::inserter(added, added.end()));
  return added;
}

double cpu_seconds_of(const Threads& threads) {
  double seconds = 0;
  for (const pid_t thread : threads) {
    timespec t{};
    if (clock_gettime(cpu_clock_of(thread), &t) == 0)
      seconds += static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
  }
  return seconds;
}

}  // namespace dlcp::cli
