// The loops with AdvSIMD, which every ARMv8 processor has and compilers use by default. Only the
// conversion of fp16 is written here.
#pragma once

#include <arm_neon.h>

#include "collective/reduce/reduce_loops.h"

namespace dlcp::collective {

class Neon {
 public:
  template <class Domain, std::size_t kInputs, bool kFirst>
  [[gnu::noinline]] static void fold(typename Domain::Sum* sums, const std::byte* const* inputs,
                                     std::size_t offset, std::size_t count) {
    std::size_t done = 0;
    if constexpr (kComputesHalves<Domain>) {
      for (; done + kLanes <= count; done += kLanes) {
        const std::size_t at = offset + sizeof(Half::Word) * done;
        float32x4_t sum = kFirst ? widened(inputs[0] + at) : vld1q_f32(sums + done);
        for (std::size_t k = kFirst ? 1 : 0; k < kInputs; ++k)
          sum = combined<Domain::kOp>(sum, widened(inputs[k] + at));
        vst1q_f32(sums + done, sum);
      }
    }
    fold_elements<Domain, kInputs, kFirst>(
        sums + done, inputs, offset + sizeof(typename Domain::Word) * done, count - done);
  }

  template <class Domain>
  [[gnu::noinline]] static void store(const typename Domain::Sum* sums, std::byte* out,
                                      std::size_t count) {
    std::size_t done = 0;
    if constexpr (kComputesHalves<Domain>) {
      const float32x4_t nan = vdupq_n_f32(std::numeric_limits<float>::quiet_NaN());
      for (; done + kLanes <= count; done += kLanes) {
        const float32x4_t sum = vld1q_f32(sums + done);
        const float16x4_t halves = vcvt_f16_f32(vbslq_f32(vceqq_f32(sum, sum), sum, nan));
        vst1_u8(reinterpret_cast<std::uint8_t*>(out + sizeof(Half::Word) * done),
                vreinterpret_u8_f16(halves));
      }
    }
    store_elements<Domain>(sums + done, out + sizeof(typename Domain::Word) * done, count - done);
  }

 private:
  static constexpr std::size_t kLanes = 4;  // number of floats

  static float32x4_t widened(const std::byte* halves) {
    return vcvt_f32_f16(
        vreinterpret_f16_u8(vld1_u8(reinterpret_cast<const std::uint8_t*>(halves))));
  }
  template <ReduceOp op>
  static float32x4_t combined(float32x4_t a, float32x4_t b) {
    return op == ReduceOp::kSum ? vaddq_f32(a, b) : vmulq_f32(a, b);
  }
};

using Vectors = Neon;
inline constexpr const char* kVectorName = "neon";

inline bool has_vectors() {
  return true;
}

}  // namespace dlcp::collective
