// The code with AVX2. Compilers vectorise most loops; those that divide elements into bytes, and
// reassemble them, are written with intrinsics.
#include "compression/block/form.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define DLCP_FORM avx2
#define DLCP_TARGET __attribute__((target("avx2,bmi,popcnt")))
#include "compression/block/code.h"
#include "util/system/processor.h"

namespace dlcp::compression {
namespace avx2 {

DLCP_LOOP __m256i load(const void* at) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(at));
}
DLCP_LOOP void store(void* at, __m256i vector) {
  _mm256_storeu_si256(static_cast<__m256i*>(at), vector);
}
DLCP_LOOP __m256i rotated_left(__m256i words) {
  return _mm256_or_si256(_mm256_slli_epi16(words, 1), _mm256_srli_epi16(words, 15));
}
DLCP_LOOP __m256i rotated_right(__m256i words) {
  return _mm256_or_si256(_mm256_srli_epi16(words, 1), _mm256_slli_epi16(words, 15));
}
// The low bytes of two vectors of 16-bit words, in order; the high bytes must be zero.
DLCP_LOOP __m256i narrowed(__m256i first, __m256i second) {
  return _mm256_permute4x64_epi64(_mm256_packus_epi16(first, second), 0xd8);
}
DLCP_LOOP Bytes largest_of(__m256i bytes) {
  __m128i most = _mm_max_epu8(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
  most = _mm_max_epu8(most, _mm_srli_epi16(most, 8));  // of pairs, in the lower byte
  // There is an instruction for the minimum of 16-bit words, so the values are inverted.
  const __m128i turned =
      _mm_xor_si128(_mm_and_si128(most, _mm_set1_epi16(0xff)), _mm_set1_epi16(0xff));
  return static_cast<Bytes>(0xff ^ _mm_extract_epi8(_mm_minpos_epu16(turned), 0));
}

struct Avx2Loops : Loops {
  template <class L>
  DLCP_LOOP static std::uint8_t split(const std::byte* in, std::size_t count, unsigned dropped,
                                      Bytes* exponents, const std::array<Bytes*, 3>& planes) {
    if constexpr (sizeof(typename L::Word) == 4) {
      return split_quads(in, count, dropped, exponents, planes);
    } else if constexpr (sizeof(typename L::Word) == 2 && L::kLowBits == 8) {
      if (dropped == 0) return split_pairs(in, count, exponents, planes[0]);
    }
    return Loops::split<L>(in, count, dropped, exponents, planes);
  }

  template <class L>
  DLCP_LOOP static void merge(const Bytes* exponents, const std::array<const Bytes*, 3>& planes,
                              unsigned dropped, std::byte* out, std::size_t count) {
    if constexpr (sizeof(typename L::Word) == 4) {
      return merge_quads(exponents, planes, dropped, out, count);
    } else if constexpr (sizeof(typename L::Word) == 2 && L::kLowBits == 8) {
      if (dropped == 0) return merge_pairs(exponents, planes[0], out, count);
    }
    Loops::merge<L>(exponents, planes, dropped, out, count);
  }

  DLCP_LOOP static std::size_t count_from(Bytes limit, const Bytes* values, std::size_t count) {
    const __m256i least = _mm256_set1_epi8(static_cast<char>(limit));
    __m256i found = _mm256_setzero_si256();  // at most 8 per byte
    for (std::size_t i = 0; i < count; i += 32) {
      const __m256i bytes = load(values + i);
      found = _mm256_sub_epi8(found, _mm256_cmpeq_epi8(_mm256_max_epu8(bytes, least), bytes));
    }
    const __m256i sums = _mm256_sad_epu8(found, _mm256_setzero_si256());
    const __m128i two =
        _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    return static_cast<std::size_t>(_mm_extract_epi64(two, 0) + _mm_extract_epi64(two, 1));
  }

  DLCP_LOOP static std::uint64_t which_from(Bytes limit, const Bytes* values) {
    return std::uint64_t{which_of_vector(limit, values + 32)} << 32 |
           which_of_vector(limit, values);
  }

 private:
  DLCP_LOOP static std::uint32_t which_of_vector(Bytes limit, const Bytes* at) {
    const __m256i bytes = load(at);
    const __m256i least = _mm256_set1_epi8(static_cast<char>(limit));
    return static_cast<std::uint32_t>(
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(bytes, least), bytes)));
  }

  // bfloat16: two bytes, exponent and low bits.
  DLCP_LOOP static std::uint8_t split_pairs(const std::byte* in, std::size_t count,
                                            Bytes* exponents, Bytes* low) {
    const __m256i lower = _mm256_set1_epi16(0xff);
    __m256i largest = _mm256_setzero_si256();
    for (std::size_t i = 0; i < count; i += 32) {
      const __m256i a = rotated_left(load(in + 2 * i));
      const __m256i b = rotated_left(load(in + 2 * i + 32));
      store(low + i, narrowed(_mm256_and_si256(a, lower), _mm256_and_si256(b, lower)));
      const __m256i high = narrowed(_mm256_srli_epi16(a, 8), _mm256_srli_epi16(b, 8));
      store(exponents + i, high);
      largest = _mm256_max_epu8(largest, high);
    }
    return largest_of(largest);
  }

  DLCP_LOOP static void merge_pairs(const Bytes* exponents, const Bytes* low, std::byte* out,
                                    std::size_t count) {
    for (std::size_t i = 0; i < count; i += 32) {
      const __m256i high = load(exponents + i);
      const __m256i bits = load(low + i);
      const __m256i a = _mm256_unpacklo_epi8(bits, high);
      const __m256i b = _mm256_unpackhi_epi8(bits, high);
      store(out + 2 * i, rotated_right(_mm256_permute2x128_si256(a, b, 0x20)));
      store(out + 2 * i + 32, rotated_right(_mm256_permute2x128_si256(a, b, 0x31)));
    }
  }

  // float32: in each 128-bit lane, byte k of the four elements is moved to the lane's k-th quarter.
  DLCP_LOOP static __m256i quarters(const std::byte* at, __m128i dropped) {
    const __m256i words = load(at);
    const __m256i turned =
        _mm256_or_si256(_mm256_slli_epi32(words, 1), _mm256_srli_epi32(words, 31));
    const __m256i low_mask = _mm256_set1_epi32(0xffffff);
    const __m256i low =
        _mm256_or_si256(_mm256_srl_epi32(_mm256_and_si256(turned, low_mask), dropped),
                        _mm256_srli_epi32(words, 31));
    const __m256i all = _mm256_or_si256(_mm256_andnot_si256(low_mask, turned), low);
    return _mm256_shuffle_epi8(
        all, _mm256_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15,  //
                              0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  }

  DLCP_LOOP static std::uint8_t split_quads(const std::byte* in, std::size_t count,
                                            unsigned dropped, Bytes* exponents,
                                            const std::array<Bytes*, 3>& planes) {
    const __m128i shift = _mm_cvtsi32_si128(static_cast<int>(dropped));
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    __m256i largest = _mm256_setzero_si256();
    for (std::size_t i = 0; i < count; i += 32) {
      const std::byte* const at = in + 4 * i;
      const __m256i a = quarters(at, shift);
      const __m256i b = quarters(at + 32, shift);
      const __m256i c = quarters(at + 64, shift);
      const __m256i d = quarters(at + 96, shift);
      const __m256i ab01 = _mm256_unpacklo_epi32(a, b);
      const __m256i ab23 = _mm256_unpackhi_epi32(a, b);
      const __m256i cd01 = _mm256_unpacklo_epi32(c, d);
      const __m256i cd23 = _mm256_unpackhi_epi32(c, d);
      store(planes[0] + i, _mm256_permutevar8x32_epi32(_mm256_unpacklo_epi64(ab01, cd01), order));
      store(planes[1] + i, _mm256_permutevar8x32_epi32(_mm256_unpackhi_epi64(ab01, cd01), order));
      store(planes[2] + i, _mm256_permutevar8x32_epi32(_mm256_unpacklo_epi64(ab23, cd23), order));
      const __m256i high = _mm256_permutevar8x32_epi32(_mm256_unpackhi_epi64(ab23, cd23), order);
      store(exponents + i, high);
      largest = _mm256_max_epu8(largest, high);
    }
    return largest_of(largest);
  }

  DLCP_LOOP static void put_quads(__m256i words, __m128i dropped, std::byte* out) {
    const __m256i low_mask = _mm256_set1_epi32(0xffffff);
    const __m256i sign = _mm256_and_si256(words, _mm256_set1_epi32(1));
    const __m256i mantissa = _mm256_and_si256(
        _mm256_sll_epi32(
            _mm256_andnot_si256(_mm256_set1_epi32(1), _mm256_and_si256(words, low_mask)), dropped),
        low_mask);
    const __m256i turned = _mm256_or_si256(_mm256_andnot_si256(low_mask, words), mantissa);
    store(out, _mm256_or_si256(_mm256_srli_epi32(turned, 1), _mm256_slli_epi32(sign, 31)));
  }

  DLCP_LOOP static void merge_quads(const Bytes* exponents,
                                    const std::array<const Bytes*, 3>& planes, unsigned dropped,
                                    std::byte* out, std::size_t count) {
    const __m128i shift = _mm_cvtsi32_si128(static_cast<int>(dropped));
    for (std::size_t i = 0; i < count; i += 32) {
      const __m256i p0 = load(planes[0] + i);
      const __m256i p1 = load(planes[1] + i);
      const __m256i p2 = load(planes[2] + i);
      const __m256i p3 = load(exponents + i);
      const __m256i low_a = _mm256_unpacklo_epi8(p0, p1);
      const __m256i low_b = _mm256_unpackhi_epi8(p0, p1);
      const __m256i high_a = _mm256_unpacklo_epi8(p2, p3);
      const __m256i high_b = _mm256_unpackhi_epi8(p2, p3);
      const __m256i a = _mm256_unpacklo_epi16(low_a, high_a);  // elements 0..3 and 16..19
      const __m256i b = _mm256_unpackhi_epi16(low_a, high_a);
      const __m256i c = _mm256_unpacklo_epi16(low_b, high_b);
      const __m256i d = _mm256_unpackhi_epi16(low_b, high_b);
      std::byte* const to = out + 4 * i;
      put_quads(_mm256_permute2x128_si256(a, b, 0x20), shift, to);
      put_quads(_mm256_permute2x128_si256(c, d, 0x20), shift, to + 32);
      put_quads(_mm256_permute2x128_si256(a, b, 0x31), shift, to + 64);
      put_quads(_mm256_permute2x128_si256(c, d, 0x31), shift, to + 96);
    }
  }
};

}  // namespace avx2

const BlockForm* avx2_form() {
  static const BlockForm form = avx2::form_of<avx2::Avx2Loops>(
      "avx2", has_avx2_and_f16c() && __builtin_cpu_supports("bmi") != 0,
      std::make_index_sequence<kFormatCount>());
  return &form;
}

}  // namespace dlcp::compression
#else
namespace dlcp::compression {
const BlockForm* avx2_form() {
  return nullptr;
}
}  // namespace dlcp::compression
#endif
