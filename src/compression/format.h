// The floating-point formats that can be compressed, and the division of an element's bits. With a
// wrong format the code is longer, but still lossless: it is lossless for any bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dlcp::compression {

// The values are part of the wire format.
enum class Format : std::uint8_t {
  kBfloat16 = 1,    // the upper half of a float32
  kFloat16 = 2,     // IEEE 754 binary16
  kFloat32 = 3,     // IEEE 754 binary32
  kFloat8E4m3 = 4,  // 4 bits of exponent, 3 of mantissa
  kFloat8E5m2 = 5,  // 5 bits of exponent, 2 of mantissa
};
inline constexpr Format kFormats[] = {Format::kBfloat16, Format::kFloat16, Format::kFloat32,
                                      Format::kFloat8E4m3, Format::kFloat8E5m2};
inline constexpr std::size_t kFormatCount = 5;

// Index of a format in tables of kFormatCount entries; kFormatCount for invalid values.
constexpr std::size_t index_of(std::uint8_t value) {
  return value >= 1 && value <= kFormatCount ? value - 1u : kFormatCount;
}

constexpr std::size_t element_bytes(Format format) {
  switch (format) {
    case Format::kFloat32:
      return 4;
    case Format::kBfloat16:
    case Format::kFloat16:
      return 2;
    case Format::kFloat8E4m3:
    case Format::kFloat8E5m2:
      break;
  }
  return 1;
}

constexpr const char* name_of(Format format) {
  switch (format) {
    case Format::kBfloat16:
      return "bf16";
    case Format::kFloat16:
      return "fp16";
    case Format::kFloat32:
      return "fp32";
    case Format::kFloat8E4m3:
      return "fp8-e4m3";
    case Format::kFloat8E5m2:
      break;
  }
  return "fp8-e5m2";
}

// An element is a `Word`: sign, exponent, mantissa, from the most significant bit. Rotated left by
// one bit it is exponent, mantissa, sign; the code keeps the lowest kLowBits bits unchanged.
template <class W, unsigned exponent_bits>
struct Layout {
  using Word = W;
  static constexpr unsigned kBits = 8 * sizeof(W);
  static constexpr unsigned kLowBits = kBits - exponent_bits;  // mantissa and sign
  static constexpr unsigned kMantissaBits = kLowBits - 1;
  static constexpr unsigned kPlanes = (kLowBits + 7) / 8;  // bytes that hold the low bits
  static constexpr std::uint32_t kLowMask = (std::uint32_t{1} << kLowBits) - 1;
};

template <Format format>
struct LayoutOf;
template <>
struct LayoutOf<Format::kBfloat16> : Layout<std::uint16_t, 8> {};
template <>
struct LayoutOf<Format::kFloat16> : Layout<std::uint16_t, 5> {};
template <>
struct LayoutOf<Format::kFloat32> : Layout<std::uint32_t, 8> {};
template <>
struct LayoutOf<Format::kFloat8E4m3> : Layout<std::uint8_t, 4> {};
template <>
struct LayoutOf<Format::kFloat8E5m2> : Layout<std::uint8_t, 5> {};

}  // namespace dlcp::compression
