// Numbers of which packets carry the low 32 bits (messages, path sequences), and which have 64 bits
// at both ends, so that they never wrap.
#pragma once

#include <cstdint>

namespace dlcp::wire {

// The 64-bit number nearest to `near` whose low 32 bits are `low` ("nearest" as in RFC 1982).
// Numbers below zero become very large ones, which every window check refuses.
constexpr std::uint64_t expand_serial(std::uint32_t low, std::uint64_t near) {
  const auto difference = static_cast<std::int32_t>(low - static_cast<std::uint32_t>(near));
  return near + static_cast<std::uint64_t>(static_cast<std::int64_t>(difference));
}

}  // namespace dlcp::wire
