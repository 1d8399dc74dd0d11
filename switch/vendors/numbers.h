// Whole numbers in a vendor's text: digits only, nothing that a C library would forgive.
#pragma once

#include <optional>
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

}  // namespace dlcp::fabric
