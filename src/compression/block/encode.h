// Encodes elements as a block. Included once per form, like loops.h.
#pragma once

#include "compression/block/pack.h"
#include "compression/block/shared.h"
#include "compression/block/width.h"

namespace dlcp::compression::DLCP_FORM {

struct Encoded {
  std::size_t bytes = 0;  // 0: it would not be shorter than the limit
  std::size_t far = 0;
};

// Writes the block's header, whose first `header` bytes (flags and mask) are already there, and the
// parts that follow. `any` is the bitwise or of all elements.
template <class Loop, class L>
DLCP_LOOP Encoded encode_elements(const std::byte* in, std::size_t count, std::uint32_t any,
                                  Bytes flags, std::size_t header, std::size_t limit, Bytes* out,
                                  std::uint8_t& largest) {
  Scratch scratch;
  const std::uint32_t mantissas = any & (L::kLowMask >> 1);
  const unsigned dropped =
      mantissas == 0 ? L::kMantissaBits : static_cast<unsigned>(std::countr_zero(mantissas));
  const unsigned kept = L::kLowBits - dropped;
  if (dropped != 0) {
    flags |= kShortened;
    out[header++] = static_cast<Bytes>(kept);
  }
  Bytes* at = out + header + 2;
  // Whole vectors are written: if the elements do not fill them, planes must not be adjacent.
  const bool apart = count % kVectorElements != 0;
  std::array<std::array<Bytes, kBlockElements>, 3> own;
  std::array<Bytes*, 3> planes{};
  for (unsigned i = 0; i < planes.size(); ++i) {
    const bool full = i < kept / 8;
    Bytes* const to = apart ? own[i].data() : at + i * count;
    planes[i] = full ? to : i == kept / 8 ? scratch.part.data() : scratch.unused.data();
  }
  Bytes* const distances = scratch.exponents.data();
  const Bytes base = Loop::template split<L>(in, padded(count), dropped, distances, planes);
  for (unsigned i = 0; apart && i < kept / 8; ++i)
    std::memcpy(at + i * count, own[i].data(), std::min<std::size_t>(count, kBlockElements));
  at += kept / 8 * count;
  largest = std::max(largest, base);
  Loop::subtract_from(base, distances, padded(count));
  std::memset(distances + count, 0, kSlackBytes);
  const Choice choice = choose_width<Loop>(distances, count);
  const std::size_t size = static_cast<std::size_t>(at - out) + packed_bytes(kept % 8, count) +
                           packed_bytes(choice.width, count) + kExceptionBytes * choice.exceptions;
  if (choice.exceptions > kExceptionsMax || size >= limit) return {0, choice.far};
  out[0] = static_cast<Bytes>(flags | choice.width);
  out[header] = base;
  out[header + 1] = static_cast<Bytes>(choice.exceptions);
  at += pack_bits(kept % 8, scratch.part.data(), count, at);
  at += pack_bits(choice.width, distances, count, at);
  if (choice.exceptions != 0) write_exceptions<Loop>(choice.width, base, distances, count, at);
  return {size, choice.far};
}

template <class Loop, class L>
[[gnu::noinline]] DLCP_TARGET Encoded encode_any(const std::byte* in, std::size_t count,
                                                 std::uint32_t any, Bytes flags, std::size_t header,
                                                 std::size_t limit, Bytes* out,
                                                 std::uint8_t& largest) {
  return encode_elements<Loop, L>(in, count, any, flags, header, limit, out, largest);
}

// Encodes the block without its groups of zeros, if that is shorter than `limit`; else returns 0.
template <class Loop, class L>
[[gnu::noinline]] DLCP_TARGET std::size_t encode_masked(const std::byte* in, std::size_t count,
                                                        std::size_t limit, Bytes* out,
                                                        std::uint8_t& largest) {
  using Word = typename L::Word;
  constexpr std::size_t kGroupBytes = kGroupElements * sizeof(Word);
  alignas(64) std::array<std::byte, kBlockElements * sizeof(Word)> dense{};
  std::byte* to = dense.data();
  unsigned mask = 0;
  Word any = 0;
  for (std::size_t group = 0; group * kGroupElements < count; ++group) {
    const std::byte* const from = in + group * kGroupBytes;
    const Word bits = Loop::template any_of<Word>(from, kGroupElements);
    if (bits == 0) continue;
    any = static_cast<Word>(any | bits);
    mask |= 1u << group;
    std::memcpy(to, from, kGroupBytes);
    to += kGroupBytes;
  }
  const std::size_t left = elements_of(mask, count);
  if (left == count) return 0;
  std::array<Bytes, kHeaderBytesMax + kBlockElements*(sizeof(Word) + 1) + kSlackBytes> other;
  other[1] = static_cast<Bytes>(mask);
  other[2] = static_cast<Bytes>(mask >> 8);
  const Encoded encoded =
      encode_any<Loop, L>(dense.data(), left, any, kMasked, 3, limit, other.data(), largest);
  std::memcpy(out, other.data(), encoded.bytes);
  return encoded.bytes;
}

}  // namespace dlcp::compression::DLCP_FORM
