// Text for HTML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace dlcp {

// `text` with the characters replaced that have a meaning in HTML, SVG and their attributes.
inline std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace dlcp
