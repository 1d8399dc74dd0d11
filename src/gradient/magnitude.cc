// Several sums run side by side, as one would wait for the latency of each addition; NaN and
// infinities come through a sum by themselves, so nothing is tested per element. A type is a pair:
// how one element becomes a float, and how sixteen become two vectors of eight.
#include "gradient/magnitude.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace dlcp::gradient {
namespace {

constexpr std::uint32_t kMagnitudeBits = 0x7fff'ffff;  // of a float32: all but the sign

// Exponents are biased by 15 and 127; the product makes up for it, for subnormals too.
float half_magnitude(std::uint16_t half) {
  const std::uint32_t bits = half & 0x7fffu;
  const float finite = std::bit_cast<float>(bits << 13) * 0x1p112f;
  return bits < 0x7c00 ? finite : kPriceless;  // an infinity or a NaN
}

template <ElementType type>
float magnitude_at(const std::byte* at) {
  if constexpr (type == ElementType::kFloat32) {
    std::uint32_t word;
    std::memcpy(&word, at, sizeof word);
    return std::bit_cast<float>(word & kMagnitudeBits);
  } else {
    std::uint16_t word;
    std::memcpy(&word, at, sizeof word);
    if constexpr (type == ElementType::kFloat16) return half_magnitude(word);
    return std::bit_cast<float>(static_cast<std::uint32_t>(word & 0x7fffu) << 16);
  }
}

template <ElementType type>
float sum_portable(const std::byte* at, std::size_t count) {
  constexpr std::size_t kSums = 8;
  constexpr std::size_t kBytes = element_bytes(type);
  std::array<float, kSums> sums{};
  for (; count >= kSums; count -= kSums, at += kSums * kBytes) {
    for (std::size_t i = 0; i < kSums; ++i)
      sums[i] += magnitude_at<type>(at + i * kBytes);
  }
  float sum = 0;
  for (; count > 0; --count, at += kBytes)
    sum += magnitude_at<type>(at);
  for (const float part : sums)
    sum += part;
  return sum;
}

using Sum = float (*)(const std::byte* at, std::size_t count);
struct Sums {  // one per type
  Sum float32;
  Sum float16;
  Sum bfloat16;
};
constexpr Sums kPortable{sum_portable<ElementType::kFloat32>, sum_portable<ElementType::kFloat16>,
                         sum_portable<ElementType::kBfloat16>};

#if defined(__x86_64__)
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
    // Even elements in one vector, odd ones in the other: their order does not matter to a sum.
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

// The sums are eight names and not an array: compilers that do not unroll keep arrays in memory.
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

constexpr Sums kAvx2{sum_avx2<ElementType::kFloat32>, sum_avx2<ElementType::kFloat16>,
                     sum_avx2<ElementType::kBfloat16>};

// Asked once: the instruction is slow, and in a guest it leaves for the hypervisor.
bool has_avx2() {
  static const bool has = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    const bool has_f16c = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
    return __builtin_cpu_supports("avx2") != 0 && has_f16c;
  }();
  return has;
}
#endif

float mean(const Sums& sums, ElementType type, std::span<const std::byte> payload) {
  const std::size_t size = element_bytes(type);
  if (size == 0 || payload.empty() || payload.size() % size != 0) return kPriceless;
  const std::size_t count = payload.size() / size;
  const Sum sum_of = type == ElementType::kFloat32   ? sums.float32
                     : type == ElementType::kFloat16 ? sums.float16
                                                     : sums.bfloat16;
  const float sum = sum_of(payload.data(), count);
  return std::isfinite(sum) ? sum / static_cast<float>(count) : kPriceless;
}

float mean_portable(ElementType type, std::span<const std::byte> payload) {
  return mean(kPortable, type, payload);
}

#if defined(__x86_64__)
float mean_avx2(ElementType type, std::span<const std::byte> payload) {
  return mean(kAvx2, type, payload);
}
#endif

}  // namespace

float mean_magnitude(ElementType type, std::span<const std::byte> payload) {
#if defined(__x86_64__)
  if (has_avx2()) return mean_avx2(type, payload);
#endif
  return mean_portable(type, payload);
}

std::span<const MagnitudeForm> magnitude_forms() {
#if defined(__x86_64__)
  static const std::array<MagnitudeForm, 2> forms{
      {{"portable", mean_portable, true}, {"avx2", mean_avx2, has_avx2()}}};
#else
  static const std::array<MagnitudeForm, 1> forms{{{"portable", mean_portable, true}}};
#endif
  return forms;
}

}  // namespace dlcp::gradient
