// The floating-point types: the representation in memory (Word), the type used to compute (Wide),
// and the conversions. Rounding is to nearest even; subnormals and infinities are preserved, NaN
// stays NaN. The conversions have no branches, so that compilers vectorise loops over them.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>

namespace dlcp::collective {

struct Half {
  using Word = std::uint16_t;
  using Wide = float;
  static constexpr Word kInfinity = 0x7c00;
  static constexpr Word kNan = 0x7e00;

  // Exponents are biased by 15 and 127. The multiplication corrects the difference, also for
  // subnormals.
  static constexpr float widen(Word half) {
    const std::uint32_t magnitude = (half & 0x7fffu) << 13;
    const auto finite = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
    const std::uint32_t special = magnitude | 0x7f80'0000u;
    const std::uint32_t sign = (half & 0x8000u) << 16;
    return std::bit_cast<float>(sign | (magnitude < 0x0f80'0000u ? finite : special));
  }

  // Below the smallest normal half, adding 0.5 rounds and leaves the subnormal's bits at the low
  // end.
  static constexpr Word narrow(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t magnitude = bits & 0x7fff'ffffu;
    const std::uint32_t odd = magnitude >> 13 & 1;
    const std::uint32_t normal = (magnitude - 0x3800'0000u + 0xfff + odd) >> 13;
    const std::uint32_t small =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f00'0000u;
    const std::uint32_t finite = magnitude < 0x3880'0000u ? small : normal;
    const std::uint32_t number = magnitude < 0x4780'0000u ? finite : kInfinity;
    const std::uint32_t sign = bits >> 16 & 0x8000u;
    return static_cast<Word>(magnitude > 0x7f80'0000u ? kNan : sign | number);
  }
};

struct Bfloat {
  using Word = std::uint16_t;
  using Wide = float;
  static constexpr Word kInfinity = 0x7f80;
  static constexpr Word kNan = 0x7fc0;

  static constexpr float widen(Word word) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(word) << 16);
  }
  static constexpr Word narrow(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return static_cast<Word>((bits & 0x7fff'ffffu) > 0x7f80'0000u ? kNan : rounded);
  }
};

template <std::floating_point Float, class Unsigned>
struct Plain {
  using Word = Unsigned;
  using Wide = Float;
  static constexpr Word kInfinity = std::bit_cast<Word>(std::numeric_limits<Float>::infinity());
  static constexpr Word kNan = std::bit_cast<Word>(std::numeric_limits<Float>::quiet_NaN());

  static constexpr Float widen(Word word) { return std::bit_cast<Float>(word); }
  static constexpr Word narrow(Float value) {
    return value == value ? std::bit_cast<Word>(value) : kNan;
  }
};

}  // namespace dlcp::collective
