// Built with -O3: these loops are to be vectorised.
#include "cli/bench/reduce.h"

#include <array>
#include <cstring>

#include "collective/reduce.h"

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

void combine(const Reduction& reduction, std::byte* to, std::byte* also, const std::byte* a,
             const std::byte* b, std::size_t bytes) {
  using namespace collective;
  // In one pass over memory, as it is mostly this ring that is measured.
  if (reduction.type == DataType::kFloat32 && reduction.op == ReduceOp::kSum)
    return add_floats(reinterpret_cast<float*>(to), reinterpret_cast<float*>(also),
                      reinterpret_cast<const float*>(a), reinterpret_cast<const float*>(b),
                      bytes / sizeof(float));
  const std::array inputs{a, b};
  reduce(reduction.type, reduction.op, inputs, bytes, to);
  if (also != nullptr) copy_bytes(also, nullptr, to, bytes);
}

void copy_bytes(std::byte* to, std::byte* also, const std::byte* from, std::size_t bytes) {
  if (bytes == 0) return;
  std::memcpy(to, from, bytes);
  if (also != nullptr) std::memcpy(also, from, bytes);
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
