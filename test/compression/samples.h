// Messages for tests: one that compresses well, and one that does not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "util/rng.h"

namespace dlcp::test {

// Elements whose exponents lie within a few values of each other.
inline std::vector<std::byte> bf16(std::size_t bytes, std::uint64_t seed = 1) {
  std::vector<std::byte> made(bytes);
  Rng rng(seed);
  for (std::size_t at = 0; at + 2 <= bytes; at += 2) {
    const auto bits = static_cast<std::uint16_t>((rng.next() & 0x81ff) | 0x3c00);
    std::memcpy(&made[at], &bits, 2);
  }
  return made;
}

inline std::vector<std::byte> random_bytes(std::size_t bytes) {
  std::vector<std::byte> made(bytes);
  Rng rng(2);
  for (auto& byte : made)
    byte = static_cast<std::byte>(rng.next());
  return made;
}

}  // namespace dlcp::test
