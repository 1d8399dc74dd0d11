// Common to the encoder and the decoder of a block. Included once per form, like loops.h.
#pragma once

#include "compression/block/loops.h"

namespace dlcp::compression::DLCP_FORM {

// Formats with separate, faster code for blocks of full length.
template <Format format>
inline constexpr bool kIsFrequent = format == Format::kBfloat16 || format == Format::kFloat32;

// Buffers of one block. Each has room after its elements, so that whole vectors can be read; the
// room is zero wherever its values can change the code.
struct alignas(64) Scratch {
  static constexpr std::size_t kRoom = kBlockElements + kSlackBytes;
  std::array<Bytes, kRoom> exponents;
  std::array<Bytes, kRoom> part;    // low bits that do not fill a byte
  std::array<Bytes, kRoom> unused;  // encode: written by split(), never read; decode: zeros
};

// Number of elements in the groups of `mask`; the last group of a block may be short.
DLCP_LOOP std::size_t elements_of(unsigned mask, std::size_t count) {
  const std::size_t last = (count - 1) / kGroupElements;
  const std::size_t missing = (last + 1) * kGroupElements - count;
  return static_cast<std::size_t>(std::popcount(mask)) * kGroupElements -
         ((mask >> last & 1) != 0 ? missing : 0);
}

}  // namespace dlcp::compression::DLCP_FORM
