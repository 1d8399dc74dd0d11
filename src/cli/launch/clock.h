// Clocks: CLOCK_MONOTONIC, which is the same in all processes of a machine, and the CPU time of
// this process, all threads included, or of this thread.
#pragma once

#include <sys/resource.h>
#include <time.h>

#include <cstdint>

namespace dlcp::cli {

inline std::int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

inline double thread_cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// Seconds in user mode and in the kernel. The sum is exact, but most kernels estimate the parts
// from samples.
struct CpuTime {
  double user = 0;
  double kernel = 0;
  double total() const { return user + kernel; }
  CpuTime& operator+=(const CpuTime& other) {
    user += other.user;
    kernel += other.kernel;
    return *this;
  }
  friend CpuTime operator-(const CpuTime& a, const CpuTime& b) {
    return {a.user - b.user, a.kernel - b.kernel};
  }
};

// Of this process, or with RUSAGE_CHILDREN of its children that have ended.
inline CpuTime cpu_time(int of = RUSAGE_SELF) {
  rusage usage{};
  getrusage(of, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return {seconds(usage.ru_utime), seconds(usage.ru_stime)};
}

}  // namespace dlcp::cli
