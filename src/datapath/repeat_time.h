// Reliable links (RC): when a card repeats a packet that has not been acknowledged. Cards know the
// times 4.096 us * 2^n only.
#pragma once

#include <cstdint>

#include "util/time.h"

namespace dlcp::datapath {

// The exponent n: at least 17 ms, and at least 4 round trips unless these exceed 537 ms.
constexpr std::uint8_t repeat_exponent(Duration round_trip) {
  constexpr std::uint8_t kLeast = 12, kMost = 17;
  std::uint8_t n = kLeast;
  while (n < kMost && Duration(std::int64_t{4096} << n) < 4 * round_trip)
    ++n;
  return n;
}
static_assert(repeat_exponent(Duration::zero()) == 12);

}  // namespace dlcp::datapath
