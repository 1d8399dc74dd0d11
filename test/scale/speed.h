// What benchmarks of one core have in common: bytes that stay in a cache, gone over again and
// again.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>

namespace dlcp::scale {

struct SpeedOptions {
  std::size_t set;  // bytes
  double seconds;   // of each measurement
  bool json = false;

  // Takes argv[i], and moves i on to its value if it has one. False: it is another option.
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

// Bytes per nanosecond, that is GB/s, of `pass`, which goes over so many. Best of several rounds of
// `passes`, as whatever else runs on the machine only ever takes away.
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
