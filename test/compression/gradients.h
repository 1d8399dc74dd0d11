// Bytes that resemble gradients: normally distributed elements, whose scale differs between rows,
// in each format.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "compression/format.h"
#include "util/rng.h"

namespace dlcp::test {

inline double normal(Rng& rng) {  // Box and Muller
  const double radius = std::sqrt(-2 * std::log(1 - rng.unit()));
  return radius * std::cos(6.283185307179586 * rng.unit());
}

// Round to nearest, ties to even; finite numbers only.
inline std::uint16_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline float from_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

// A format with `exponent_bits` and `mantissa_bits`, truncated towards zero.
inline std::uint32_t to_small_float(double value, int exponent_bits, int mantissa_bits) {
  const std::uint32_t sign = std::signbit(value) ? 1u << (exponent_bits + mantissa_bits) : 0;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  int exponent = 0;
  const double fraction = std::frexp(std::abs(value), &exponent);  // in [0.5, 1)
  exponent += bias - 1;
  if (fraction == 0 || exponent < 1 - mantissa_bits) return sign;
  const double scale = exponent < 1 ? std::ldexp(fraction, exponent) : 2 * fraction - 1;
  const auto mantissa = static_cast<std::uint32_t>(std::ldexp(scale, mantissa_bits));
  return sign | static_cast<std::uint32_t>(exponent < 1 ? 0 : exponent) << mantissa_bits | mantissa;
}

// Each element is the sum of `workers` gradients that were computed in bfloat16 (`autocast`, of
// float32 only) or in the format itself. Of the rows of 100 elements, the share `zeros` is zero.
struct Gradients {
  int workers = 1;
  bool autocast = false;
  double zeros = 0;
};

inline std::vector<std::byte> gradients(compression::Format format, std::size_t count,
                                        std::uint64_t seed, Gradients what = {}) {
  using compression::Format;
  constexpr std::size_t kRow = 100;
  Rng rng(seed);
  const std::size_t size = element_bytes(format);
  std::vector<std::byte> out(count * size);
  bool zero = false;
  double scale = 1;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % kRow == 0) {
      zero = rng.chance(what.zeros);
      scale = std::exp2(-6 - 4 * rng.unit());
    }
    if (zero) continue;
    float sum = 0;
    for (int worker = 0; worker < what.workers; ++worker) {
      const auto own = static_cast<float>(scale * normal(rng));
      sum += what.autocast ? from_bfloat16(to_bfloat16(own)) : own;
    }
    std::uint32_t bits = std::bit_cast<std::uint32_t>(sum);
    if (format == Format::kBfloat16) bits = to_bfloat16(sum);
    if (format == Format::kFloat16) bits = to_small_float(double{sum}, 5, 10);
    if (format == Format::kFloat8E4m3) bits = to_small_float(double{sum} * 64, 4, 3);
    if (format == Format::kFloat8E5m2) bits = to_small_float(double{sum} * 64, 5, 2);
    std::memcpy(out.data() + i * size, &bits, size);  // little-endian hosts only
  }
  return out;
}

}  // namespace dlcp::test
