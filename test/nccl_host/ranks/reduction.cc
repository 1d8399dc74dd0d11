#include "reduction.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace nccl_host {
namespace {

// Whole numbers, so small that sums of 16 ranks are exact in every type. One of a product's factors
// is two, and the others are one or minus one.
int value_of(const Shape& shape, std::size_t index, int rank, int ranks, bool is_signed) {
  const std::size_t mixed = index * 31 + static_cast<std::size_t>(shape.seed * 7 + rank * 13);
  if (shape.op == ncclProd) {
    if (index % static_cast<std::size_t>(ranks) == static_cast<std::size_t>(rank)) return 2;
    return is_signed && mixed % 3 == 0 ? -1 : 1;
  }
  const int value = static_cast<int>(mixed % 15);
  return is_signed ? value - 7 : value;
}

template <class T>
constexpr bool is_signed() {
  return !std::is_unsigned_v<T>;
}

template <class T>
T stored(double value) {
  return static_cast<T>(static_cast<std::conditional_t<std::is_integral_v<T>, T, float>>(value));
}

template <class T>
double expected(const Shape& shape, std::size_t index, int ranks) {
  double result = value_of(shape, index, 0, ranks, is_signed<T>());
  for (int rank = 1; rank < ranks; ++rank) {
    const double value = value_of(shape, index, rank, ranks, is_signed<T>());
    if (shape.op == ncclMax)
      result = std::max(result, value);
    else if (shape.op == ncclMin)
      result = std::min(result, value);
    else if (shape.op == ncclProd)
      result *= value;
    else
      result += value;
  }
  if (shape.op != ncclAvg) return result;
  return std::is_integral_v<T> ? std::trunc(result / ranks) : result / ranks;
}

// Only averages of floats are rounded: by the factor, and again in the sum.
template <class T>
double tolerance(const Shape& shape) {
  if (shape.op != ncclAvg || std::is_integral_v<T>) return 0;
  if (std::is_same_v<T, __nv_bfloat16>) return 0.5;
  return std::is_same_v<T, __half> ? 0.05 : 1e-5;
}

template <class T>
void fill(const Shape& shape, int rank, int ranks, void* memory) {
  auto* const elements = static_cast<T*>(memory);
  for (std::size_t i = 0; i < shape.count; ++i)
    elements[i] = stored<T>(value_of(shape, i, rank, ranks, is_signed<T>()));
}

template <class T>
Found compare(const Shape& shape, int ranks, const void* memory) {
  Found found;
  const auto* const elements = static_cast<const T*>(memory);
  for (std::size_t i = 0; i < shape.count; ++i) {
    const double wanted = expected<T>(shape, i, ranks);
    const auto got = static_cast<double>(
        static_cast<std::conditional_t<std::is_integral_v<T>, T, float>>(elements[i]));
    if (std::abs(got - wanted) <= tolerance<T>(shape)) continue;
    if (found.wrong++ == 0) {
      found.first = "element " + std::to_string(i) + " of " + std::to_string(shape.count) +
                    " of type " + std::to_string(shape.type) + ", operation " +
                    std::to_string(shape.op) + ", is " + std::to_string(got) + " and not " +
                    std::to_string(wanted);
    }
  }
  return found;
}

template <class Use>
auto with_type(ncclDataType_t type, Use use) {
  switch (type) {
    case ncclInt8:
      return use(std::int8_t{});
    case ncclUint8:
      return use(std::uint8_t{});
    case ncclInt32:
      return use(std::int32_t{});
    case ncclUint32:
      return use(std::uint32_t{});
    case ncclInt64:
      return use(std::int64_t{});
    case ncclUint64:
      return use(std::uint64_t{});
    case ncclFloat16:
      return use(__half{});
    case ncclBfloat16:
      return use(__nv_bfloat16{});
    case ncclFloat64:
      return use(double{});
    default:
      return use(float{});
  }
}

std::uint64_t fnv(const void* memory, std::size_t bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto* const at = static_cast<const unsigned char*>(memory);
  for (std::size_t i = 0; i < bytes; ++i)
    hash = (hash ^ at[i]) * 0x100000001b3;
  return hash;
}

}  // namespace

Reduction::Reduction(const Shape& shape, int rank, int ranks) : shape_(shape), ranks_(ranks) {
  bytes_ = with_type(shape.type, [&](auto zero) { return shape.count * sizeof zero; });
  cudaMalloc(&input_, bytes_);
  cudaMalloc(&output_, bytes_);
  with_type(shape.type, [&](auto zero) { fill<decltype(zero)>(shape, rank, ranks, input_); });
  std::memset(output_, 0x55, bytes_);
}

Reduction::~Reduction() {
  cudaFree(input_);
  cudaFree(output_);
}

ncclResult_t Reduction::enqueue(ncclComm_t comm, cudaStream_t stream) const {
  return ncclAllReduce(input_, output_, shape_.count, shape_.type, shape_.op, comm, stream);
}

Found Reduction::check() const {
  Found found = with_type(
      shape_.type, [&](auto zero) { return compare<decltype(zero)>(shape_, ranks_, output_); });
  found.digest = fnv(output_, bytes_);
  return found;
}

}  // namespace nccl_host
