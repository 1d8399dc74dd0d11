#include "switch/plan/units.h"

#include <fmt/core.h>

#include <array>

namespace dlcp::fabric {
namespace {

// Three significant digits: 1.54 MB, 15.4 MB, 154 MB.
std::string scaled(double value, const std::array<const char*, 4>& units) {
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  std::string digits = fmt::format("{:.{}f}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
  if (digits.find('.') != std::string::npos) {
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') digits.pop_back();
  }
  return digits + ' ' + units[unit];
}

}  // namespace

std::string bytes_text(double bytes) {
  return scaled(bytes, {"B", "kB", "MB", "GB"});
}

std::string rate_text(std::uint64_t bits_per_second) {
  return scaled(static_cast<double>(bits_per_second), {"b/s", "kb/s", "Mb/s", "Gb/s"});
}

std::string time_text(std::uint64_t nanoseconds) {
  return scaled(static_cast<double>(nanoseconds), {"ns", "us", "ms", "s"});
}

}  // namespace dlcp::fabric
