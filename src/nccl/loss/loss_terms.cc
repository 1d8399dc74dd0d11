#include "nccl/loss/loss_terms.h"

#include <fmt/format.h>

namespace dlcp::nccl {
namespace {

gradient::ElementType element_type(CommunicatorClass::Type type) {
  switch (type) {
    case CommunicatorClass::Type::kFloat32:
      return gradient::ElementType::kFloat32;
    case CommunicatorClass::Type::kFloat16:
      return gradient::ElementType::kFloat16;
    case CommunicatorClass::Type::kBfloat16:
      return gradient::ElementType::kBfloat16;
    case CommunicatorClass::Type::kUnstated:
      break;
  }
  return gradient::ElementType::kOther;
}

}  // namespace

LossTerms loss_terms(std::uint32_t process_budget_ppm, int communicator_class) {
  const auto own = decode_communicator_class(communicator_class);
  if (!own) {
    return {process_budget_ppm, CommunicatorClass::Priority::kLearned,
            gradient::ElementType::kOther, false};
  }
  return {own->budget_ppm, own->priority, element_type(own->type), true};
}

std::string contract(const LossTerms& terms) {
  return fmt::format(
      "may lose {:.4g}% of each AllReduce and ReduceScatter of floating-point numbers ({}): "
      "with this setting the user states that they are sums or averages, and are useful without "
      "this share",
      terms.budget_ppm / 1e4,
      terms.from_communicator_class ? "trafficClass" : "DLCP_LOSS_BUDGET, DLCP_LOSS_SCOPE");
}

}  // namespace dlcp::nccl
