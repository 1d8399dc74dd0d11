// The sum of |g| over adjacent elements, in the form that every processor can run, and the common
// type of all forms (magnitude_avx2.h, magnitude_neon.h): one function per element type. Several
// sums run in parallel, because a single one would wait for the latency of each addition. A sum
// propagates NaN and infinities, so elements are not tested one by one.
#pragma once

#include <array>
#include <bit>
#include <cstring>

#include "gradient/magnitude.h"

// Functions with this mark are compiled for the processor and, by nvcc, for the GPU.
#if defined(__CUDACC__)
#define DLCP_ALSO_ON_GPU __host__ __device__
#else
#define DLCP_ALSO_ON_GPU
#endif

namespace dlcp::gradient {

inline constexpr std::uint32_t kMagnitudeBits = 0x7fff'ffff;  // of a float32: all but the sign

// The exponents have biases of 15 and 127; the multiplication corrects this, also for subnormals.
DLCP_ALSO_ON_GPU inline float half_magnitude(std::uint16_t half) {
  const std::uint32_t bits = half & 0x7fffu;
  const float finite = std::bit_cast<float>(bits << 13) * 0x1p112f;
  return bits < 0x7c00 ? finite : kPriceless;  // an infinity or a NaN
}

template <ElementType type>
DLCP_ALSO_ON_GPU float magnitude_at(const std::byte* at) {
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

inline constexpr std::size_t kSums = 8;

// The last step of a sum: the elements that are left over, and then the parts, in this order.
template <ElementType type>
DLCP_ALSO_ON_GPU float add_up(const std::byte* rest, std::size_t count, const float* parts) {
  float sum = 0;
  for (; count > 0; --count, rest += element_bytes(type))
    sum += magnitude_at<type>(rest);
  for (std::size_t i = 0; i < kSums; ++i)
    sum += parts[i];
  return sum;
}

DLCP_ALSO_ON_GPU inline float mean_of(float sum, std::size_t count) {
  return sum < kPriceless ? sum / static_cast<float>(count) : kPriceless;  // also if it is NaN
}

template <ElementType type>
float sum_portable(const std::byte* at, std::size_t count) {
  constexpr std::size_t kBytes = element_bytes(type);
  std::array<float, kSums> sums{};
  for (; count >= kSums; count -= kSums, at += kSums * kBytes)
    for (std::size_t i = 0; i < kSums; ++i)
      sums[i] += magnitude_at<type>(at + i * kBytes);
  return add_up<type>(at, count, sums.data());
}

using Sum = float (*)(const std::byte* at, std::size_t count);
struct Sums {  // one per type
  Sum float32;
  Sum float16;
  Sum bfloat16;
};
inline constexpr Sums kPortableSums{sum_portable<ElementType::kFloat32>,
                                    sum_portable<ElementType::kFloat16>,
                                    sum_portable<ElementType::kBfloat16>};

}  // namespace dlcp::gradient
