// A duration for people, in the unit that fits it.
#pragma once

#include <fmt/format.h>

#include <string>

#include "util/time.h"

namespace dlcp {

// "1.23 ms", with this many digits.
inline std::string duration_text(double seconds, int digits = 3) {
  const double us = seconds * 1e6;
  if (us < 999.5) return fmt::format("{:.{}g} us", us, digits);
  if (us < 999.5e3) return fmt::format("{:.{}g} ms", us / 1e3, digits);
  return fmt::format("{:.{}g} s", seconds, digits);
}

inline std::string duration_text(Duration duration) {
  return duration_text(static_cast<double>(duration.count()) * 1e-9);
}

}  // namespace dlcp
