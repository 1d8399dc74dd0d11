// Chooses once the fastest sum that the processor supports, and computes the mean from it.
#include "gradient/magnitude.h"

#include <array>

#include "gradient/magnitude_sum.h"
#if defined(__x86_64__)
#include "gradient/magnitude_avx2.h"
#define DLCP_VECTOR_SUMS
#elif defined(__aarch64__)
#include "gradient/magnitude_neon.h"
#define DLCP_VECTOR_SUMS
#endif

namespace dlcp::gradient {
namespace {

float mean(const Sums& sums, ElementType type, std::span<const std::byte> payload) {
  const std::size_t size = element_bytes(type);
  if (size == 0 || payload.empty() || payload.size() % size != 0) return kPriceless;
  const std::size_t count = payload.size() / size;
  const Sum sum_of = type == ElementType::kFloat32   ? sums.float32
                     : type == ElementType::kFloat16 ? sums.float16
                                                     : sums.bfloat16;
  return mean_of(sum_of(payload.data(), count), count);
}

float mean_portable(ElementType type, std::span<const std::byte> payload) {
  return mean(kPortableSums, type, payload);
}

#if defined(DLCP_VECTOR_SUMS)
float mean_vectors(ElementType type, std::span<const std::byte> payload) {
  return mean(kVectorSums, type, payload);
}
#endif

}  // namespace

float mean_magnitude(ElementType type, std::span<const std::byte> payload) {
#if defined(DLCP_VECTOR_SUMS)
  if (has_vectors()) return mean_vectors(type, payload);
#endif
  return mean_portable(type, payload);
}

std::span<const MagnitudeForm> magnitude_forms() {
  static const std::array forms {
    MagnitudeForm{"portable", mean_portable, true},
#if defined(DLCP_VECTOR_SUMS)
        MagnitudeForm{kVectorName, mean_vectors, has_vectors()},
#endif
  };
  return forms;
}

}  // namespace dlcp::gradient
