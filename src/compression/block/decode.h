// Decodes a block, which may be any bytes, to elements. Included once per form, like loops.h.
#pragma once

#include "compression/block/pack.h"
#include "compression/block/shared.h"
#include "compression/block/width.h"

namespace dlcp::compression::DLCP_FORM {

// The fields of a block's header, and the offsets of the parts that follow it.
struct Head {
  unsigned width = 0;
  unsigned kept = 0;  // low bits; 0: the header is invalid
  Bytes base = 0;
  std::size_t exceptions = 0;
  const Bytes* low = nullptr;
  std::size_t bytes = 0;  // of the whole block
};

// Reads the header after the first byte and the mask, at in[at], of a block with `count` elements.
template <class L>
DLCP_LOOP Head read_head(const Bytes* in, std::size_t at, std::size_t count) {
  Head head;
  head.width = in[0] & kWidthMask;
  const unsigned kept = (in[0] & kShortened) != 0 ? in[at++] : L::kLowBits;
  if (head.width > 8 || kept == 0 || kept > L::kLowBits) return {};
  head.kept = kept;
  head.base = in[at];
  head.exceptions = in[at + 1];
  head.low = in + at + 2;
  head.bytes = at + 2 + count * (kept / 8) + packed_bytes(kept % 8, count) +
               packed_bytes(head.width, count) + kExceptionBytes * head.exceptions;
  return head;
}

// Writes padded(count) elements.
template <class Loop, class L>
DLCP_LOOP void decode_elements(const Head& head, std::size_t count, std::byte* out) {
  Scratch scratch;
  const Bytes* at = head.low;
  std::array<const Bytes*, 3> planes{};
  if (head.kept / 8 + 1 < L::kPlanes) std::memset(scratch.unused.data(), 0, scratch.unused.size());
  for (unsigned i = 0; i < planes.size(); ++i) {
    const bool full = i < head.kept / 8;
    planes[i] = full ? at : i == head.kept / 8 ? scratch.part.data() : scratch.unused.data();
    at += full ? count : 0;
  }
  if (L::kLowBits % 8 != 0 || head.kept != L::kLowBits)
    unpack_bits(head.kept % 8, at, count, scratch.part.data());
  at += packed_bytes(head.kept % 8, count);
  Bytes* const exponents = scratch.exponents.data();
  unpack_bits(head.width, at, count, exponents);
  at += packed_bytes(head.width, count);
  Loop::subtract_from(head.base, exponents, padded(count));
  for (std::size_t i = 0; i < head.exceptions; ++i, at += kExceptionBytes)
    exponents[at[0]] = at[1];
  Loop::template merge<L>(exponents, planes, L::kLowBits - head.kept, out, padded(count));
}

// Decodes a block whose elements do not fill whole vectors, or that omits groups of zeros.
template <class Loop, class L>
[[gnu::noinline]] DLCP_TARGET std::size_t decode_other(const Bytes* in, std::size_t available,
                                                       std::byte* out, std::size_t count) {
  using Word = typename L::Word;
  constexpr std::size_t kGroupBytes = kGroupElements * sizeof(Word);
  const std::size_t groups = (count + kGroupElements - 1) / kGroupElements;
  const bool masked = (in[0] & kMasked) != 0;
  const unsigned every = (1u << groups) - 1;
  const unsigned mask = masked ? static_cast<unsigned>(in[1] | in[2] << 8) : every;
  if (mask == 0 || (mask & ~every) != 0) return 0;
  const std::size_t present = elements_of(mask, count);
  const Head head = read_head<L>(in, masked ? 3 : 1, present);
  if (head.kept == 0 || head.bytes > available) return 0;
  alignas(64) std::array<std::byte, kBlockElements * sizeof(Word)> dense;
  decode_elements<Loop, L>(head, present, dense.data());
  const std::byte* from = dense.data();
  for (std::size_t group = 0; group < groups; ++group) {
    const std::size_t at = group * kGroupBytes;
    const std::size_t bytes = std::min(kGroupBytes, count * sizeof(Word) - at);
    if ((mask >> group & 1) == 0) {
      std::memset(out + at, 0, bytes);
    } else {
      std::memcpy(out + at, from, bytes);
      from += kGroupBytes;
    }
  }
  return head.bytes;
}

template <class Loop, Format format>
DLCP_TARGET std::size_t decode_block(const std::byte* from, std::size_t available, std::byte* out,
                                     std::size_t count) {
  using L = LayoutOf<format>;
  const auto* const in = reinterpret_cast<const Bytes*>(from);
  const std::size_t raw = count * sizeof(typename L::Word);
  if (available == 0 || (in[0] & kUnusedBits) != 0) return 0;
  if (in[0] == kZeroBlock) {
    std::memset(out, 0, raw);
    return 1;
  }
  if (in[0] == kRawBlock) {
    if (available < 1 + raw) return 0;
    std::memcpy(out, from + 1, raw);
    return 1 + raw;
  }
  if (!kIsFrequent<format> || count != kBlockElements || (in[0] & kMasked) != 0)
    return decode_other<Loop, L>(in, available, out, count);
  const Head head = read_head<L>(in, 1, kBlockElements);
  if (head.kept == 0 || head.bytes > available) return 0;
  decode_elements<Loop, L>(head, kBlockElements, out);
  return head.bytes;
}

}  // namespace dlcp::compression::DLCP_FORM
