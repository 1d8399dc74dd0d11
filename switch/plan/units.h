// Sizes and rates for messages and reports: "817 kB", "400 Gb/s", "12 us".
#pragma once

#include <cstdint>
#include <string>

namespace dlcp::fabric {

std::string bytes_text(double bytes);
inline std::string bytes_text(std::uint64_t bytes) {
  return bytes_text(static_cast<double>(bytes));
}
std::string rate_text(std::uint64_t bits_per_second);
std::string time_text(std::uint64_t nanoseconds);

}  // namespace dlcp::fabric
