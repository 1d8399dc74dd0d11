// The licence of a message of direct exchange. Only contributions may lose parts.
#pragma once

#include "collective/calls/transfer.h"
#include "core/bounded_loss/licence.h"

namespace dlcp::engine {

constexpr gradient::ElementType element_of(collective::DataType type) {
  switch (type) {
    case collective::DataType::kFloat32:
      return gradient::ElementType::kFloat32;
    case collective::DataType::kFloat16:
      return gradient::ElementType::kFloat16;
    case collective::DataType::kBfloat16:
      return gradient::ElementType::kBfloat16;
    default:
      return gradient::ElementType::kOther;
  }
}

// If nothing may be lost, the licence states only that the message belongs to direct exchange.
inline core::Licence direct_licence(const collective::Transfer& transfer) {
  const collective::Leave& leave = transfer.leave;
  core::Licence licence;
  licence.shape = core::LossShape::kDirect;
  if (leave.budget_ppm == 0) return licence;
  licence.collective = transfer.call + 1;
  licence.result_bytes = leave.call_bytes;
  licence.ranks = licence.hops = leave.ranks;
  licence.budget_ppm = leave.budget_ppm;
  licence.element = element_of(leave.type);
  licence.pool = leave.pool;
  return licence;
}

}  // namespace dlcp::engine
