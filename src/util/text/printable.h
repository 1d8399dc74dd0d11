// Text that another process or host has written, made safe to print on a terminal.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace dlcp {

// Replaces control characters and non-ASCII bytes by ?.
inline std::string printable(std::string_view text) {
  std::string out(text);
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, '?');
  return out;
}

}  // namespace dlcp
