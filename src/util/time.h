// The project's time: signed 64-bit nanoseconds since an arbitrary origin, from a steady clock. The
// type has no now(): only the engine (and tests, with simulated time) makes a Time; all other code
// gets it as an argument.
#pragma once

#include <chrono>
#include <cstdint>

namespace dlcp {

using Duration = std::chrono::nanoseconds;

struct SteadyOrigin {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<SteadyOrigin>;
  static constexpr bool is_steady = true;
};

using Time = SteadyOrigin::time_point;

inline constexpr Time kNever = Time::max();

constexpr Time time_from_ns(std::int64_t ns) {
  return Time(Duration(ns));
}
constexpr std::int64_t ns_of(Time t) {
  return t.time_since_epoch().count();
}

using namespace std::chrono_literals;

}  // namespace dlcp
