#include "nccl/collective.h"

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
  return word == "RING" ? Algorithm::kRing : word == "TREE" ? Algorithm::kTree : Algorithm::kOther;
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

}  // namespace dlcp::nccl
