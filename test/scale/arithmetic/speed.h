// Shared parts of single-core benchmarks: bytes that stay in a cache and are processed repeatedly.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>

namespace dlcp::scale {

struct SpeedOptions {
  std::size_t set;  // in bytes
  double seconds;   // of each measurement
  bool json = false;

  // Parses argv[i], and moves i to its value if it has one. False: an unknown option.
  bool take(int argc, char** argv, int& i) {
    const std::string option = argv[i];
    if (option == "--json")
      json = true;
    else if (option == "--set" && i + 1 < argc)
      set = std::stoul(argv[++i]);
    else if (option == "--seconds" && i + 1 < argc)
      seconds = std::stod(argv[++i]);
    else
      return false;
    return true;
  }
};

// Bytes per nanosecond (GB/s) of `pass`, which processes that many bytes. Best of several rounds of
// `passes`, because other load on the machine only slows them.
template <class Pass>
double best_speed(double seconds, std::size_t passes, std::size_t bytes, Pass pass) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  double best = 0;
  do {
    const auto begin = Clock::now();
    for (std::size_t i = 0; i < passes; ++i)
      pass();
    const std::chrono::duration<double, std::nano> took = Clock::now() - begin;
    best = std::max(best, static_cast<double>(passes * bytes) / took.count());
  } while (Clock::now() < end);
  return best;
}

}  // namespace dlcp::scale
