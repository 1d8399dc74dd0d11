// The sum of |g| with AdvSIMD, which every ARMv8 processor has, including the conversion of
// binary16. Each type defines how eight elements become two vectors of four.
#pragma once

#include <arm_neon.h>

#include "gradient/magnitude_sum.h"

namespace dlcp::gradient {

template <ElementType type>
inline float32x4x2_t load_eight(const std::byte* at) {
  if constexpr (type == ElementType::kFloat32) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(at);
    return {{vreinterpretq_f32_u8(vld1q_u8(bytes)), vreinterpretq_f32_u8(vld1q_u8(bytes + 16))}};
  } else {
    const uint16x8_t words =
        vreinterpretq_u16_u8(vld1q_u8(reinterpret_cast<const std::uint8_t*>(at)));
    if constexpr (type == ElementType::kFloat16) {
      const float16x8_t halves = vreinterpretq_f16_u16(words);
      return {{vcvt_f32_f16(vget_low_f16(halves)), vcvt_high_f32_f16(halves)}};
    }
    return {{vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(words), 16)),
             vreinterpretq_f32_u32(vshll_high_n_u16(words, 16))}};
  }
}

// Adds the magnitudes of eight elements to two sums.
template <ElementType type>
inline void add_eight(const std::byte* at, float32x4_t& first, float32x4_t& second) {
  const float32x4x2_t g = load_eight<type>(at);
  first = vaddq_f32(first, vabsq_f32(g.val[0]));
  second = vaddq_f32(second, vabsq_f32(g.val[1]));
}

// Eight separate sums, not an array: compilers that do not unroll keep arrays in memory.
template <ElementType type>
float sum_neon(const std::byte* at, std::size_t count) {
  constexpr std::size_t kBytes = element_bytes(type);
  float32x4_t a = vdupq_n_f32(0), b = a, c = a, d = a, e = a, f = a, g = a, h = a;
  for (; count >= 32; count -= 32, at += 32 * kBytes) {
    add_eight<type>(at, a, b);
    add_eight<type>(at + 8 * kBytes, c, d);
    add_eight<type>(at + 16 * kBytes, e, f);
    add_eight<type>(at + 24 * kBytes, g, h);
  }
  for (; count >= 8; count -= 8, at += 8 * kBytes)
    add_eight<type>(at, a, b);
  a = vaddq_f32(vaddq_f32(a, c), vaddq_f32(e, g));
  b = vaddq_f32(vaddq_f32(b, d), vaddq_f32(f, h));
  return vaddvq_f32(vaddq_f32(a, b)) + sum_portable<type>(at, count);
}

inline constexpr Sums kVectorSums{sum_neon<ElementType::kFloat32>, sum_neon<ElementType::kFloat16>,
                                  sum_neon<ElementType::kBfloat16>};
inline constexpr const char* kVectorName = "neon";

inline bool has_vectors() {
  return true;
}

}  // namespace dlcp::gradient
