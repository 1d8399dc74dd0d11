// Whole numbers in a vendor's text: digits only, stricter than the C library's parsers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dlcp::fabric {

// 0..999999999; nullopt: anything else.
inline std::optional<int> number_of(std::string_view text) {
  int value = 0;
  if (text.empty() || text.size() > 9) return std::nullopt;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

// A counter as a command prints it, 0..999999999999999999, with or without commas between
// thousands; nullopt: anything else, such as the N/A of a platform that does not count it.
inline std::optional<std::uint64_t> counter_of(std::string_view text) {
  std::string digits;
  for (const char c : text)
    if (c != ',') digits += c;
  if (digits.empty() || digits.size() > 18 ||
      digits.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return std::stoull(digits);
}

}  // namespace dlcp::fabric
