// Built with -O3, so that the compiler vectorises the loops.
#include "cli/driver/reduce.h"

#include <array>
#include <cstring>

#include "collective/reduce/reduce.h"

namespace dlcp::cli {
namespace {

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

}  // namespace

void combine(const Reduction& reduction, std::byte* to, std::byte* also, const std::byte* a,
             const std::byte* b, std::size_t bytes) {
  using namespace collective;
  // One pass over memory, as this is the case that is measured most.
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

std::uint64_t count_lost(const float* arrived, std::size_t count) {
  constexpr std::size_t kRunMin = 32;
  std::uint64_t lost = 0;
  // Every run of kRunMin elements contains a probe.
  for (std::size_t probe = kRunMin - 1; probe < count; probe += kRunMin) {
    if (arrived[probe] != 0) continue;
    std::size_t begin = probe;
    while (begin > 0 && arrived[begin - 1] == 0)
      --begin;
    std::size_t end = probe + 1;
    while (end < count && arrived[end] == 0)
      ++end;
    if (end - begin >= kRunMin) lost += end - begin;
    // Continue with the first probe behind the run.
    probe = (end + kRunMin) / kRunMin * kRunMin - 1 - kRunMin;
  }
  return lost;
}

}  // namespace dlcp::cli
