// Built with -O3: these loops are to be vectorised.
#include "cli/bench/reduce.h"

#include <cstring>

namespace dlcp::cli {

void add_floats(float* __restrict to, float* __restrict also, const float* __restrict a,
                const float* __restrict b, std::size_t count) {
  if (also == nullptr) {
    for (std::size_t i = 0; i < count; i++)
      to[i] = a[i] + b[i];
    return;
  }
  for (std::size_t i = 0; i < count; i++)
    also[i] = to[i] = a[i] + b[i];
}

void copy_floats(float* to, float* also, const float* from, std::size_t count) {
  if (count == 0) return;
  std::memcpy(to, from, count * sizeof(float));
  if (also != nullptr) std::memcpy(also, from, count * sizeof(float));
}

void offset_floats(float* __restrict to, const std::int8_t* __restrict base, float offset,
                   std::size_t count) {
  for (std::size_t i = 0; i < count; i++)
    to[i] = static_cast<float>(base[i]) + offset;
}

std::size_t count_unequal(const float* __restrict seen, const float* __restrict base, float offset,
                          std::size_t count) {
  std::size_t unequal = 0;
  for (std::size_t i = 0; i < count; i++) {
    // NaN compares unequal to everything, so a slice that never arrived counts.
    unequal += seen[i] == base[i] + offset ? 0 : 1;
  }
  return unequal;
}

}  // namespace dlcp::cli
