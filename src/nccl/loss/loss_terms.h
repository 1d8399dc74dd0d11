// The loss that the user permits a communicator, and the log line that states what the user asserts
// by permitting it.
#pragma once

#include <cstdint>
#include <string>

#include "dlcp/communicator_class.h"
#include "gradient/magnitude.h"

namespace dlcp::nccl {

struct LossTerms {
  std::uint32_t budget_ppm = 0;  // 0: exact
  CommunicatorClass::Priority priority = CommunicatorClass::Priority::kLearned;
  gradient::ElementType stated_type = gradient::ElementType::kOther;  // kOther: not stated
  bool from_communicator_class = false;

  bool any() const { return budget_ppm > 0; }
};

// The communicator's own number overrides the process's budget.
LossTerms loss_terms(std::uint32_t process_budget_ppm, int communicator_class);

// Formats "may lose ...: its floating-point reductions must be sums or averages".
std::string contract(const LossTerms& terms);

}  // namespace dlcp::nccl
