// NCCL's functions, algorithms, protocols and data types as far as they matter here, and the two
// ways in which NCCL names them: bits (setNetAttr) and words (profiler).
#pragma once

#include <cstdint>

#include "gradient/magnitude.h"

namespace dlcp::nccl {

// Values are NCCL's numbers; everything else is kOther.
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
  kOther = 255
};
enum class Protocol : std::uint8_t { kLl = 0, kLl128 = 1, kSimple = 2, kOther = 255 };

// One collective as NCCL's profiler interface tells of it.
struct Collective {
  Function function = Function::kOther;
  Algorithm algorithm = Algorithm::kOther;
  Protocol protocol = Protocol::kOther;
  gradient::ElementType type = gradient::ElementType::kOther;
  std::uint64_t count = 0;     // elements that it leaves on each rank
  std::uint32_t channels = 0;  // that share them
  int nccl_type = -1;          // ncclDataType_t; -1: one that is not known here
};

constexpr bool is_collnet(Algorithm algorithm) {
  return algorithm == Algorithm::kCollnetDirect || algorithm == Algorithm::kCollnetChain;
}

// The words may be null.
Function function_named(const char* name);
Algorithm algorithm_named(const char* name);
Protocol protocol_named(const char* name);
gradient::ElementType type_named(const char* name);
int nccl_type_named(const char* name);

// True when exactly this one is meant: NCCL's masks name several where it does not know.
template <class Named>
constexpr bool only(std::uint32_t mask, Named named) {
  return static_cast<unsigned>(named) < 32 && mask == std::uint32_t{1}
                                                          << static_cast<unsigned>(named);
}

}  // namespace dlcp::nccl
