// The code of a block, based on a form's loops. Included once per form, like loops.h.
#pragma once

#include <utility>

#include "compression/block/decode.h"
#include "compression/block/encode.h"

namespace dlcp::compression::DLCP_FORM {

template <class Loop, Format format>
DLCP_TARGET std::size_t encode_block(const std::byte* in, std::size_t count, std::byte* to,
                                     std::uint8_t& largest) {
  using L = LayoutOf<format>;
  using Word = typename L::Word;
  auto* const out = reinterpret_cast<Bytes*>(to);
  const std::size_t raw = 1 + count * sizeof(Word);
  const Word any = Loop::template any_of<Word>(in, padded(count));
  if (any == 0) {
    out[0] = kZeroBlock;
    return 1;
  }
  // With a constant count the loops need no code for incomplete vectors.
  Encoded encoded = kIsFrequent<format> && count == kBlockElements
                        ? encode_elements<Loop, L>(in, kBlockElements, any, 0, 1, raw, out, largest)
                        : encode_any<Loop, L>(in, count, any, 0, 1, raw, out, largest);
  if (encoded.far >= kGroupElements) {
    const std::size_t limit = encoded.bytes == 0 ? raw : encoded.bytes;
    if (const std::size_t masked = encode_masked<Loop, L>(in, count, limit, out, largest))
      encoded.bytes = masked;
  }
  if (encoded.bytes != 0) return encoded.bytes;
  out[0] = kRawBlock;
  std::memcpy(out + 1, in, raw - 1);
  return raw;
}

template <class Loop, std::size_t... index>
constexpr BlockForm form_of(const char* name, bool supported, std::index_sequence<index...>) {
  return {name,
          supported,
          {encode_block<Loop, kFormats[index]>...},
          {decode_block<Loop, kFormats[index]>...}};
}

}  // namespace dlcp::compression::DLCP_FORM
