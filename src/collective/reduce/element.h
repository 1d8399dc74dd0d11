// Element types and reduction operations. The values equal NCCL's (ncclDataType_t, ncclRedOp_t), so
// NCCL's arguments need no conversion.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dlcp::collective {

enum class DataType : std::uint8_t {
  kInt8 = 0,
  kUint8 = 1,
  kInt32 = 2,
  kUint32 = 3,
  kInt64 = 4,
  kUint64 = 5,
  kFloat16 = 6,  // IEEE 754 binary16
  kFloat32 = 7,
  kFloat64 = 8,
  kBfloat16 = 9,  // the upper half of a float32
};
inline constexpr std::size_t kDataTypes = 10;

// NCCL passes an average to the network as a sum; the GPUs divide.
enum class ReduceOp : std::uint8_t { kSum = 0, kProd = 1, kMax = 2, kMin = 3 };
inline constexpr std::size_t kReduceOps = 4;

// Size of one element, or 0 for an unknown type.
constexpr std::size_t bytes_of(DataType type) {
  constexpr std::uint8_t kBytes[kDataTypes] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
  const auto number = static_cast<std::size_t>(type);
  return number < kDataTypes ? kBytes[number] : 0;
}

constexpr bool is_floating(DataType type) {
  return type >= DataType::kFloat16 && type <= DataType::kBfloat16;
}

// Only sums of the types that gradients use may lose contributions.
constexpr bool may_lose(DataType type, ReduceOp op) {
  return op == ReduceOp::kSum &&
         (type == DataType::kFloat32 || type == DataType::kFloat16 || type == DataType::kBfloat16);
}

// Accepts any of NCCL's numbers. False for unknown ones (8-bit floats, a user-defined operation).
constexpr bool can_reduce(int type, int op) {
  return type >= 0 && type < static_cast<int>(kDataTypes) && op >= 0 &&
         op < static_cast<int>(kReduceOps);
}
constexpr bool can_reduce(DataType type, ReduceOp op) {
  return can_reduce(static_cast<int>(type), static_cast<int>(op));
}

}  // namespace dlcp::collective
