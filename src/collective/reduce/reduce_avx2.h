// The loops with AVX2, and with F16C for fp16, whose conversion compilers do not vectorise.
#pragma once

#include <immintrin.h>

#include "collective/reduce/reduce_loops.h"
#include "util/system/processor.h"

namespace dlcp::collective {

#define DLCP_AVX2 __attribute__((target("avx2,f16c")))

class Avx2 {
 public:
  template <class Domain, std::size_t kInputs, bool kFirst>
  [[gnu::noinline]] DLCP_AVX2 static void fold(typename Domain::Sum* sums,
                                               const std::byte* const* inputs, std::size_t offset,
                                               std::size_t count) {
    std::size_t done = 0;
    if constexpr (kComputesHalves<Domain>) {
      for (; done + kLanes <= count; done += kLanes) {
        const std::size_t at = offset + sizeof(Half::Word) * done;
        __m256 sum = kFirst ? widened(inputs[0] + at) : _mm256_loadu_ps(sums + done);
        for (std::size_t k = kFirst ? 1 : 0; k < kInputs; ++k)
          sum = combined<Domain::kOp>(sum, widened(inputs[k] + at));
        _mm256_storeu_ps(sums + done, sum);
      }
    }
    fold_elements<Domain, kInputs, kFirst>(
        sums + done, inputs, offset + sizeof(typename Domain::Word) * done, count - done);
  }

  template <class Domain>
  [[gnu::noinline]] DLCP_AVX2 static void store(const typename Domain::Sum* sums, std::byte* out,
                                                std::size_t count) {
    std::size_t done = 0;
    if constexpr (kComputesHalves<Domain>) {
      const __m256 nan = _mm256_set1_ps(std::numeric_limits<float>::quiet_NaN());
      for (; done + kLanes <= count; done += kLanes) {
        const __m256 sum = _mm256_loadu_ps(sums + done);
        const __m256 is_nan = _mm256_cmp_ps(sum, sum, _CMP_UNORD_Q);
        const __m128i halves =
            _mm256_cvtps_ph(_mm256_blendv_ps(sum, nan, is_nan), _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + sizeof(Half::Word) * done), halves);
      }
    }
    store_elements<Domain>(sums + done, out + sizeof(typename Domain::Word) * done, count - done);
  }

 private:
  static constexpr std::size_t kLanes = 8;  // number of floats

  DLCP_AVX2 static __m256 widened(const std::byte* halves) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(halves)));
  }
  template <ReduceOp op>
  DLCP_AVX2 static __m256 combined(__m256 a, __m256 b) {
    return op == ReduceOp::kSum ? _mm256_add_ps(a, b) : _mm256_mul_ps(a, b);
  }
};

using Vectors = Avx2;
inline constexpr const char* kVectorName = "avx2";

inline bool has_vectors() {
  return has_avx2_and_f16c();
}

}  // namespace dlcp::collective
