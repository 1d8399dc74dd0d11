// The loops over the elements of a block in plain C++. A form with faster loops for its processor
// overrides them (avx2.cc, neon.cc). Included once per form: the form defines the namespace
// DLCP_FORM and the attribute DLCP_TARGET, so that compilers may use its processor's instructions
// here.
#pragma once

#include <algorithm>
#include <bit>

#include "compression/block/form.h"

namespace dlcp::compression::DLCP_FORM {

#define DLCP_LOOP [[gnu::always_inline]] DLCP_TARGET inline

using Bytes = std::uint8_t;

template <class Word>
DLCP_LOOP Word word_at(const std::byte* at, std::size_t index) {
  Word word;
  std::memcpy(&word, at + index * sizeof word, sizeof word);  // little-endian hosts only
  return word;
}

struct Loops {
  // The bitwise or of all elements.
  template <class Word>
  DLCP_LOOP static Word any_of(const std::byte* in, std::size_t count) {
    Word any = 0;
    for (std::size_t i = 0; i < count; ++i)
      any |= word_at<Word>(in, i);
    return any;
  }

  // Divides elements into exponents and the bytes of their low bits. `dropped` bits of the
  // mantissa, which are zero in all elements, are left out. Returns the largest exponent.
  template <class L>
  DLCP_LOOP static std::uint8_t split(const std::byte* in, std::size_t count, unsigned dropped,
                                      Bytes* __restrict exponents,
                                      const std::array<Bytes*, 3>& planes) {
    using Word = typename L::Word;
    Bytes largest = 0;
    Bytes* const __restrict plane0 = planes[0];
    Bytes* const __restrict plane1 = planes[1];
    Bytes* const __restrict plane2 = planes[2];
    for (std::size_t i = 0; i < count; ++i) {
      const Word word = std::rotl(word_at<Word>(in, i), 1);
      const auto exponent = static_cast<Bytes>(word >> L::kLowBits);
      // The sign replaces the lowest dropped bit.
      const std::uint32_t low = ((word & L::kLowMask) >> dropped) | (word & 1u);
      exponents[i] = exponent;
      largest = std::max(largest, exponent);
      plane0[i] = static_cast<Bytes>(low);
      if constexpr (L::kPlanes > 1) plane1[i] = static_cast<Bytes>(low >> 8);
      if constexpr (L::kPlanes > 2) plane2[i] = static_cast<Bytes>(low >> 16);
    }
    return largest;
  }

  // The reverse of split().
  template <class L>
  DLCP_LOOP static void merge(const Bytes* exponents, const std::array<const Bytes*, 3>& planes,
                              unsigned dropped, std::byte* __restrict out, std::size_t count) {
    using Word = typename L::Word;
    const Bytes* const plane0 = planes[0];
    const Bytes* const plane1 = planes[1];
    const Bytes* const plane2 = planes[2];
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t low = plane0[i];
      if constexpr (L::kPlanes > 1) low |= std::uint32_t{plane1[i]} << 8;
      if constexpr (L::kPlanes > 2) low |= std::uint32_t{plane2[i]} << 16;
      low = (((low & ~1u) << dropped) | (low & 1u)) & L::kLowMask;
      const Word word =
          std::rotr(static_cast<Word>(std::uint32_t{exponents[i]} << L::kLowBits | low), 1);
      std::memcpy(out + i * sizeof word, &word, sizeof word);
    }
  }

  // values[i] = base - values[i]: from exponents to distances, and back.
  DLCP_LOOP static void subtract_from(Bytes base, Bytes* values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      values[i] = static_cast<Bytes>(base - values[i]);
  }

  DLCP_LOOP static std::size_t count_from(Bytes limit, const Bytes* values, std::size_t count) {
    std::size_t found = 0;
    for (std::size_t at = 0; at < count; at += kVectorElements) {
      Bytes part = 0;
      for (std::size_t i = 0; i < kVectorElements; ++i)
        part = static_cast<Bytes>(part + (values[at + i] >= limit ? 1 : 0));
      found += part;
    }
    return found;
  }

  // A mask of those of the 64 values from `values` on that are at least `limit`, a power of two.
  DLCP_LOOP static std::uint64_t which_from(Bytes limit, const Bytes* values) {
    std::uint64_t found = 0;
    const std::uint64_t above = 0x0101'0101'0101'0101u * static_cast<Bytes>(~(limit - 1u));
    for (std::size_t at = 0; at < 64; at += 8) {
      std::uint64_t eight;
      std::memcpy(&eight, values + at, sizeof eight);
      if ((eight & above) == 0) continue;
      for (std::size_t i = 0; i < 8; ++i)
        found |= static_cast<std::uint64_t>(values[at + i] >= limit ? 1 : 0) << (at + i);
    }
    return found;
  }
};

}  // namespace dlcp::compression::DLCP_FORM
