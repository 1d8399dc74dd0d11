// Chooses the width of the exponents' codes in a block, and lists the elements without a code of
// that width.
#pragma once

#include "compression/block/loops.h"

namespace dlcp::compression::DLCP_FORM {

inline constexpr unsigned kOtherWidths[] = {0, 1, 2, 5, 8};  // than 3 and 4
inline constexpr std::size_t kExceptionBytes = 2;            // place and exponent
inline constexpr std::size_t kExceptionsMax = 255;

struct Choice {
  unsigned width = 8;
  std::size_t exceptions = 0;
  std::size_t far = 0;  // elements at a distance of 16 or more: many if there are zeros
};

constexpr std::size_t cost_of(unsigned width, std::size_t exceptions, std::size_t count) {
  return packed_bytes(width, count) + kExceptionBytes * exceptions;
}

template <class Loop>
[[gnu::noinline]] DLCP_TARGET Choice choose_of_all(Choice best, const Bytes* distances,
                                                   std::size_t count) {
  for (const unsigned width : kOtherWidths) {
    const std::size_t beyond =
        width == 8 ? 0
                   : Loop::count_from(static_cast<Bytes>(1u << width), distances, padded(count));
    if (cost_of(width, beyond, count) < cost_of(best.width, best.exceptions, count))
      best = {width, beyond, best.far};
  }
  return best;
}

// The width with the shortest codes and exceptions in total. Widths of 3 and 4 suit gradients; the
// others are tried if these two do not fit well.
template <class Loop>
DLCP_LOOP Choice choose_width(const Bytes* distances, std::size_t count) {
  const std::size_t from8 = Loop::count_from(8, distances, padded(count));
  const std::size_t from16 = Loop::count_from(16, distances, padded(count));
  Choice best{3, from8, from16};
  if (cost_of(4, from16, count) < cost_of(3, from8, count)) best = {4, from16, from16};
  if (from8 > 0 && from16 <= count / 16) return best;
  return choose_of_all<Loop>(best, distances, count);
}

// Writes place and exponent of the elements whose distance has no code of `width` bits.
template <class Loop>
DLCP_LOOP void write_exceptions(unsigned width, Bytes base, const Bytes* distances,
                                std::size_t count, Bytes* out) {
  const auto limit = static_cast<Bytes>(1u << width);
  for (std::size_t at = 0; at < count; at += 64) {
    for (std::uint64_t left = Loop::which_from(limit, distances + at); left != 0;
         left &= left - 1) {
      const std::size_t place = at + static_cast<std::size_t>(std::countr_zero(left));
      *out++ = static_cast<Bytes>(place);
      *out++ = static_cast<Bytes>(base - distances[place]);
    }
  }
}

}  // namespace dlcp::compression::DLCP_FORM
