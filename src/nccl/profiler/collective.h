// The NCCL functions, algorithms, protocols and data types that DLCP distinguishes, and their two
// representations in NCCL: bits (setNetAttr) and words (profiler).
#pragma once

#include <cstdint>

#include "gradient/magnitude.h"

namespace dlcp::nccl {

// The values are NCCL's numbers; all others become kOther.
enum class Function : std::uint8_t {
  kBroadcast = 0,
  kReduce = 1,
  kAllGather = 2,
  kReduceScatter = 3,
  kAllReduce = 4,
  kOther = 255,
};
enum class Algorithm : std::uint8_t {
  kTree = 0,
  kRing = 1,
  kCollnetDirect = 2,
  kCollnetChain = 3,
  kNvls = 4,  // between hosts it uses CollNet
  kOther = 255
};
enum class Protocol : std::uint8_t { kLl = 0, kLl128 = 1, kSimple = 2, kOther = 255 };

// One collective as NCCL's profiler interface describes it.
struct Collective {
  Function function = Function::kOther;
  Algorithm algorithm = Algorithm::kOther;
  Protocol protocol = Protocol::kOther;
  gradient::ElementType type = gradient::ElementType::kOther;
  std::uint64_t count = 0;     // elements of each rank's result
  std::uint32_t channels = 0;  // number of channels that share them
  int nccl_type = -1;          // ncclDataType_t; -1 if unknown
};

constexpr bool is_collnet(Algorithm algorithm) {
  return algorithm == Algorithm::kCollnetDirect || algorithm == Algorithm::kCollnetChain;
}

// The argument may be null.
Function function_named(const char* name);
Algorithm algorithm_named(const char* name);
Protocol protocol_named(const char* name);
gradient::ElementType type_named(const char* name);
int nccl_type_named(const char* name);

// True if the mask has only this bit: NCCL sets several bits if the value is not determined.
template <class Named>
constexpr bool only(std::uint32_t mask, Named named) {
  return static_cast<unsigned>(named) < 32 && mask == std::uint32_t{1}
                                                          << static_cast<unsigned>(named);
}

}  // namespace dlcp::nccl
