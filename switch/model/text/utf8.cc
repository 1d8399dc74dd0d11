#include "switch/model/text/utf8.h"

#include <algorithm>

namespace dlcp::fabric {
namespace {

// The form of a sequence that begins with this byte: its length, and the range of the second byte,
// which excludes overlong forms, surrogates and code points above U+10FFFF.
struct Sequence {
  std::size_t length = 0;  // 0: not the first byte of a sequence
  unsigned char low = 0x80, high = 0xbf;
};

Sequence sequence_of(unsigned char first) {
  if (first < 0x80) return {1};
  if (first < 0xc2 || first > 0xf4) return {};
  if (first < 0xe0) return {2};
  if (first < 0xf0) {
    const auto low = static_cast<unsigned char>(first == 0xe0 ? 0xa0 : 0x80);
    return {3, low, static_cast<unsigned char>(first == 0xed ? 0x9f : 0xbf)};
  }
  const auto low = static_cast<unsigned char>(first == 0xf0 ? 0x90 : 0x80);
  return {4, low, static_cast<unsigned char>(first == 0xf4 ? 0x8f : 0xbf)};
}

bool is_between(char byte, unsigned char low, unsigned char high) {
  return static_cast<unsigned char>(byte) >= low && static_cast<unsigned char>(byte) <= high;
}

}  // namespace

std::optional<int> first_line_not_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Sequence one = sequence_of(static_cast<unsigned char>(text[at]));
    bool whole = one.length > 0 && one.length <= text.size() - at;
    if (whole && one.length > 1) whole = is_between(text[at + 1], one.low, one.high);
    for (std::size_t i = 2; whole && i < one.length; ++i)
      whole = is_between(text[at + i], 0x80, 0xbf);
    if (!whole) return 1 + static_cast<int>(std::count(text.begin(), text.begin() + at, '\n'));
    at += one.length;
  }
  return std::nullopt;
}

}  // namespace dlcp::fabric
