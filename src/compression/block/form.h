// The layout of a block of up to 256 elements, and the forms of its code for different processors,
// which all produce the same bytes. README.md describes the layout.
#pragma once

#include <array>
#include <cstring>
#include <span>

#include "compression/format.h"

namespace dlcp::compression {

inline constexpr std::size_t kBlockElements = 256;
inline constexpr std::size_t kVectorElements = 32;  // inputs of a block are padded to a multiple
inline constexpr std::size_t kGroupElements = 16;   // elements per bit of the mask of zeros
inline constexpr std::size_t kHeaderBytesMax = 6;
// Bytes that an encoder may write, and a decoder may read, beyond the block.
inline constexpr std::size_t kSlackBytes = 64;

// First byte of a block. Below kZeroBlock: the width of an exponent's code in bits, 0 to 8, and
// flags. Bits 6 and 7 are zero.
inline constexpr std::uint8_t kWidthMask = 0x0f;
inline constexpr std::uint8_t kZeroBlock = 14;  // every bit of the block is zero
inline constexpr std::uint8_t kRawBlock = 15;   // uncompressed elements
inline constexpr std::uint8_t kMasked = 0x10;   // a mask of groups follows: 0 for a group of zeros
inline constexpr std::uint8_t kShortened = 0x20;  // a byte follows: number of low bits that are
                                                  // kept
inline constexpr std::uint8_t kUnusedBits = 0xc0;

// Memory that encode needs for a block, and that decode may read.
constexpr std::size_t block_room(Format format) {
  return kHeaderBytesMax + kBlockElements * (element_bytes(format) + 1) + kSlackBytes;
}
constexpr std::size_t padded(std::size_t elements) {
  return (elements + kVectorElements - 1) / kVectorElements * kVectorElements;
}
// Bytes of `elements` values of `width` bits each (0 to 8).
constexpr std::size_t packed_bytes(unsigned width, std::size_t elements) {
  if (width == 8) return elements;
  return ((width & 4) != 0 ? (elements + 1) / 2 : 0) + ((width & 2) != 0 ? (elements + 3) / 4 : 0) +
         ((width & 1) != 0 ? (elements + 7) / 8 : 0);
}

struct BlockForm {
  // Returns the bytes of the block, at most 1 + those of its elements. `in` is readable for
  // padded(elements) elements, of which those past the end are zero; `out` is writable for
  // block_room(). Raises `largest` to the block's largest biased exponent.
  using Encode = std::size_t (*)(const std::byte* in, std::size_t elements, std::byte* out,
                                 std::uint8_t& largest);
  // Returns the bytes read, or 0 if the first `available` bytes of `in` are not a valid block. `in`
  // is readable for block_room() and may contain any bytes; nothing is written beyond the elements
  // in `out`.
  using Decode = std::size_t (*)(const std::byte* in, std::size_t available, std::byte* out,
                                 std::size_t elements);
  const char* name;
  bool supported;                           // by this processor
  std::array<Encode, kFormatCount> encode;  // by index_of
  std::array<Decode, kFormatCount> decode;
};

const BlockForm& portable_form();
const BlockForm* avx2_form();  // null: not for this architecture
const BlockForm* neon_form();

// The forms for this architecture, the portable one first.
std::span<const BlockForm* const> block_forms();
const BlockForm& best_form();

}  // namespace dlcp::compression
