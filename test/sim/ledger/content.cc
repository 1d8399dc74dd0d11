#include "content.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>

#include "util/rng.h"

namespace dlcp::test {
namespace {

std::uint64_t finite_word(Rng& rng) {
  return rng.next() & ~0x4000'0000'4000'0000u;
}

std::uint32_t normal_bits(Rng& rng) {
  const double radius = std::sqrt(-2 * std::log(1 - rng.unit()));
  const auto value =
      static_cast<float>(1e-3 * radius * std::cos(2 * std::numbers::pi * rng.unit()));
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

enum class Kind : std::uint8_t { kBfloat16, kFloat32, kAutocast, kSparse, kRandom, kCount };

// 8 bytes of the kind; `row`: the index of their KiB.
std::uint64_t word_of(Kind kind, Rng& rng, std::size_t row) {
  switch (kind) {
    case Kind::kBfloat16: {
      std::uint64_t word = 0;
      for (int i = 0; i < 4; ++i)
        word = word << 16 | normal_bits(rng) >> 16;
      return word;
    }
    case Kind::kFloat32:
      return std::uint64_t{normal_bits(rng)} << 32 | normal_bits(rng);
    case Kind::kAutocast:
      return (std::uint64_t{normal_bits(rng)} << 32 | normal_bits(rng)) & 0xffff'0000'ffff'0000u;
    case Kind::kSparse:
      return row % 16 == 3 ? word_of(Kind::kFloat32, rng, row) : 0;
    default:
      return finite_word(rng);
  }
}

}  // namespace

const std::vector<std::byte>& random_pattern() {
  static const std::vector<std::byte> bytes = [] {
    std::vector<std::byte> made(kPatternBytes);
    Rng rng(0xd1c9);
    for (std::size_t i = 0; i < made.size(); i += 8) {
      const std::uint64_t word = finite_word(rng);
      std::memcpy(made.data() + i, &word, 8);
    }
    return made;
  }();
  return bytes;
}

const std::vector<std::byte>& gradient_pattern() {
  static const std::vector<std::byte> bytes = [] {
    std::vector<std::byte> made(kPatternBytes);
    Rng rng(0xd1ca);
    for (std::size_t at = 0; at < made.size();) {
      const auto kind = static_cast<Kind>(rng.below(static_cast<std::uint64_t>(Kind::kCount)));
      const std::size_t end = std::min(at + 8 * (384 + rng.below(25'000)), made.size());
      for (; at < end; at += 8) {
        const std::uint64_t word = word_of(kind, rng, at / 1024);
        std::memcpy(made.data() + at, &word, 8);
      }
    }
    return made;
  }();
  return bytes;
}

}  // namespace dlcp::test
