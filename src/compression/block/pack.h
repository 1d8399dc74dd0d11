// Packs values of a few bits into bytes. Included once per form, like loops.h.
#pragma once

#include "compression/block/loops.h"

namespace dlcp::compression::DLCP_FORM {

struct Packing {
  // out[j] holds `width` bits (4, 2 or 1), from bit `from` on, of values j, j + stride, ..., so
  // that no value moves between the lanes of a vector. Eight values are processed as one word.
  template <unsigned width>
  DLCP_LOOP static void pack(const Bytes* __restrict values, unsigned from, std::size_t stride,
                             Bytes* __restrict out) {
    std::size_t j = 0;
    for (; j + 8 <= stride; j += 8) {
      std::uint64_t word =
          field<width, 0>(values + j, from) | field<width, 1>(values + j + stride, from);
      if constexpr (width <= 2) {
        word |= field<width, 2>(values + j + 2 * stride, from);
        word |= field<width, 3>(values + j + 3 * stride, from);
      }
      if constexpr (width == 1) {
        word |= field<width, 4>(values + j + 4 * stride, from);
        word |= field<width, 5>(values + j + 5 * stride, from);
        word |= field<width, 6>(values + j + 6 * stride, from);
        word |= field<width, 7>(values + j + 7 * stride, from);
      }
      std::memcpy(out + j, &word, sizeof word);
    }
    for (; j < stride; ++j) {
      unsigned byte = 0;
      for (unsigned k = 0; k < 8 / width; ++k)
        byte |= (static_cast<unsigned>(values[j + k * stride]) >> from & ((1u << width) - 1))
                << (k * width);
      out[j] = static_cast<Bytes>(byte);
    }
  }

  // Adds to `values` the bits that pack() took from them.
  template <unsigned width>
  DLCP_LOOP static void unpack(const Bytes* __restrict in, unsigned from, std::size_t stride,
                               Bytes* __restrict values) {
    for (unsigned k = 0; k < 8 / width; ++k) {
      Bytes* const to = values + k * stride;
      std::size_t j = 0;
      for (; j + 8 <= stride; j += 8) {
        const std::uint64_t bits = (eight_at(in + j) >> (k * width) & kFields<width>) << from;
        const std::uint64_t word = eight_at(to + j) | bits;
        std::memcpy(to + j, &word, sizeof word);
      }
      for (; j < stride; ++j)
        to[j] = static_cast<Bytes>(to[j] | (in[j] >> (k * width) & ((1u << width) - 1)) << from);
    }
  }

 private:
  template <unsigned width>
  static constexpr std::uint64_t kFields = 0x0101'0101'0101'0101u * ((1u << width) - 1);

  DLCP_LOOP static std::uint64_t eight_at(const Bytes* at) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return word;
  }
  // The bits of eight values that become the k-th field of eight bytes.
  template <unsigned width, unsigned k>
  DLCP_LOOP static std::uint64_t field(const Bytes* values, unsigned from) {
    return (eight_at(values) >> from & kFields<width>) << (k * width);
  }
};

// Returns the bytes written.
DLCP_LOOP std::size_t pack_bits(unsigned width, const Bytes* values, std::size_t count,
                                Bytes* out) {
  if (width == 8) {
    std::memcpy(out, values, count);
    return count;
  }
  unsigned from = 0;
  std::size_t done = 0;
  if ((width & 4) != 0) {
    Packing::pack<4>(values, from, (count + 1) / 2, out);
    from += 4;
    done += (count + 1) / 2;
  }
  if ((width & 2) != 0) {
    Packing::pack<2>(values, from, (count + 3) / 4, out + done);
    from += 2;
    done += (count + 3) / 4;
  }
  if ((width & 1) != 0) {
    Packing::pack<1>(values, from, (count + 7) / 8, out + done);
    done += (count + 7) / 8;
  }
  return done;
}

// Writes padded(count) values, and at most 7 beyond `count`.
DLCP_LOOP void unpack_bits(unsigned width, const Bytes* in, std::size_t count, Bytes* values) {
  if (width == 8) {
    std::memcpy(values, in, count);
    return;
  }
  std::memset(values, 0, padded(count));
  unsigned from = 0;
  if ((width & 4) != 0) {
    Packing::unpack<4>(in, from, (count + 1) / 2, values);
    from += 4;
    in += (count + 1) / 2;
  }
  if ((width & 2) != 0) {
    Packing::unpack<2>(in, from, (count + 3) / 4, values);
    from += 2;
    in += (count + 3) / 4;
  }
  if ((width & 1) != 0) Packing::unpack<1>(in, from, (count + 7) / 8, values);
}

}  // namespace dlcp::compression::DLCP_FORM
