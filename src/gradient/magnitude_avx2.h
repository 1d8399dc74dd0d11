// The sum of |g| with AVX2 and F16C. Each type defines how sixteen elements become two vectors of
// eight.
#pragma once

#include <immintrin.h>

#include "gradient/magnitude_sum.h"
#include "util/system/processor.h"

namespace dlcp::gradient {

#define DLCP_AVX2 __attribute__((target("avx2,f16c")))

struct TwoVectors {
  __m256 first;
  __m256 second;
};

template <ElementType type>
DLCP_AVX2 inline TwoVectors load_sixteen(const std::byte* at) {
  const auto* vectors = reinterpret_cast<const __m256i*>(at);
  if constexpr (type == ElementType::kFloat32) {
    return {_mm256_castsi256_ps(_mm256_loadu_si256(vectors)),
            _mm256_castsi256_ps(_mm256_loadu_si256(vectors + 1))};
  } else if constexpr (type == ElementType::kFloat16) {
    const auto* halves = reinterpret_cast<const __m128i*>(at);
    return {_mm256_cvtph_ps(_mm_loadu_si128(halves)), _mm256_cvtph_ps(_mm_loadu_si128(halves + 1))};
  } else {
    // Even elements in one vector, odd ones in the other: a sum does not depend on their order.
    const __m256i words = _mm256_loadu_si256(vectors);
    const __m256i odd = _mm256_and_si256(words, _mm256_set1_epi32(static_cast<int>(0xffff'0000)));
    return {_mm256_castsi256_ps(_mm256_slli_epi32(words, 16)), _mm256_castsi256_ps(odd)};
  }
}

DLCP_AVX2 inline float sum_of_lanes(__m256 lanes) {
  __m128 sum = _mm_add_ps(_mm256_castps256_ps128(lanes), _mm256_extractf128_ps(lanes, 1));
  sum = _mm_add_ps(sum, _mm_movehl_ps(sum, sum));
  sum = _mm_add_ss(sum, _mm_movehdup_ps(sum));
  return _mm_cvtss_f32(sum);
}

// Adds the magnitudes of sixteen elements to two sums.
template <ElementType type>
DLCP_AVX2 inline void add_sixteen(const std::byte* at, __m256& first, __m256& second) {
  const __m256 magnitude = _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(kMagnitudeBits)));
  const TwoVectors g = load_sixteen<type>(at);
  first = _mm256_add_ps(first, _mm256_and_ps(g.first, magnitude));
  second = _mm256_add_ps(second, _mm256_and_ps(g.second, magnitude));
}

// Eight separate sums, not an array: compilers that do not unroll keep arrays in memory.
template <ElementType type>
DLCP_AVX2 float sum_avx2(const std::byte* at, std::size_t count) {
  constexpr std::size_t kBytes = element_bytes(type);
  __m256 a{}, b{}, c{}, d{}, e{}, f{}, g{}, h{};
  for (; count >= 64; count -= 64, at += 64 * kBytes) {
    add_sixteen<type>(at, a, b);
    add_sixteen<type>(at + 16 * kBytes, c, d);
    add_sixteen<type>(at + 32 * kBytes, e, f);
    add_sixteen<type>(at + 48 * kBytes, g, h);
  }
  for (; count >= 16; count -= 16, at += 16 * kBytes)
    add_sixteen<type>(at, a, b);
  a = _mm256_add_ps(_mm256_add_ps(a, c), _mm256_add_ps(e, g));
  b = _mm256_add_ps(_mm256_add_ps(b, d), _mm256_add_ps(f, h));
  return sum_of_lanes(_mm256_add_ps(a, b)) + sum_portable<type>(at, count);
}

inline constexpr Sums kVectorSums{sum_avx2<ElementType::kFloat32>, sum_avx2<ElementType::kFloat16>,
                                  sum_avx2<ElementType::kBfloat16>};
inline constexpr const char* kVectorName = "avx2";

inline bool has_vectors() {
  return has_avx2_and_f16c();
}

}  // namespace dlcp::gradient
