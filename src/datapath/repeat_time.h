// Reliable links (RC): when a card repeats a packet that has not been acknowledged. Cards know the
// times 4.096 us * 2^n only.
#pragma once

#include <cstdint>

#include "datapath/placement.h"
#include "util/time.h"

namespace dlcp::datapath {

// A packet is sent and then repeated six times, because Soft-RoCE takes seven for no limit. Cards
// may take up to four times as long as they are told.
constexpr std::uint8_t kRepeats = 6;
constexpr std::int64_t kSlowCard = 4;

// The exponent n: at least 17 ms, and at least 4 round trips unless these exceed 34 ms. A card must
// not repeat a packet for longer than a key rests (kKeyLifetime), because the key may then belong
// to another message.
constexpr std::uint8_t repeat_exponent(Duration round_trip) {
  constexpr std::uint8_t kLeast = 12, kMost = 13;
  std::uint8_t n = kLeast;
  while (n < kMost && Duration(std::int64_t{4096} << n) < 4 * round_trip)
    ++n;
  return n;
}
static_assert(repeat_exponent(Duration::zero()) == 12);

}  // namespace dlcp::datapath
