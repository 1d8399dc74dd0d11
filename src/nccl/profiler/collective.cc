#include "nccl/profiler/collective.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace dlcp::nccl {
Function function_named(const char* name) {
  const std::string_view word = name != nullptr ? name : "";
  return word == "AllReduce"       ? Function::kAllReduce
         : word == "ReduceScatter" ? Function::kReduceScatter
         : word == "AllGather"     ? Function::kAllGather
         : word == "Broadcast"     ? Function::kBroadcast
         : word == "Reduce"        ? Function::kReduce
                                   : Function::kOther;
}

Algorithm algorithm_named(const char* name) {
  const std::string_view word = name != nullptr ? name : "";
  return word == "RING"             ? Algorithm::kRing
         : word == "TREE"           ? Algorithm::kTree
         : word == "COLLNET_CHAIN"  ? Algorithm::kCollnetChain
         : word == "COLLNET_DIRECT" ? Algorithm::kCollnetDirect
         : word == "NVLS"           ? Algorithm::kNvls
                                    : Algorithm::kOther;
}

Protocol protocol_named(const char* name) {
  const std::string_view word = name != nullptr ? name : "";
  return word == "SIMPLE"  ? Protocol::kSimple
         : word == "LL"    ? Protocol::kLl
         : word == "LL128" ? Protocol::kLl128
                           : Protocol::kOther;
}

gradient::ElementType type_named(const char* name) {
  const std::string_view word = name != nullptr ? name : "";
  return word == "ncclFloat32"    ? gradient::ElementType::kFloat32
         : word == "ncclFloat16"  ? gradient::ElementType::kFloat16
         : word == "ncclBfloat16" ? gradient::ElementType::kBfloat16
                                  : gradient::ElementType::kOther;
}

int nccl_type_named(const char* name) {
  constexpr std::string_view kNames[] = {"ncclInt8",    "ncclUint8",   "ncclInt32",   "ncclUint32",
                                         "ncclInt64",   "ncclUint64",  "ncclFloat16", "ncclFloat32",
                                         "ncclFloat64", "ncclBfloat16"};
  const std::string_view word = name != nullptr ? name : "";
  if (word == "Unknown")  // NCCL's word for ncclUint8 up to 2.30, and for no other type in use
    return 1;
  const auto* const found = std::ranges::find(kNames, word);
  return found == std::end(kNames) ? -1 : static_cast<int>(found - std::begin(kNames));
}

}  // namespace dlcp::nccl
