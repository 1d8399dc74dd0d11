// A user states what a communicator may lose in its `trafficClass` (ncclConfig_t, NCCL >= 2.26).
// `dlcp traffic-class` prints these numbers.
//
//   bits 0-17   budget: the lost share of each result, end to end, in millionths (<= 250000).
//   bits 18-19  priority: 0 derived from the order of collectives, 1 urgent, 2 bulk.
//   bits 20-21  data type: 0 as NCCL reports it, 1 fp32, 2 fp16, 3 bf16.
//   bits 22-23  zero.
//   bits 24-30  0x44; bit 31 zero.
//
// Valid numbers are therefore 1140850688 to 1145044991. DLCP ignores any other number, and -1
// (unset). A budget of 0 makes the communicator exact whatever DLCP_LOSS_BUDGET is.
#pragma once

#include <cstdint>
#include <optional>

namespace dlcp {

struct CommunicatorClass {
  enum class Priority : std::uint8_t { kLearned = 0, kUrgent = 1, kBulk = 2 };
  enum class Type : std::uint8_t { kUnstated = 0, kFloat32 = 1, kFloat16 = 2, kBfloat16 = 3 };
  static constexpr std::uint32_t kBudgetPpmMax = 250'000;

  std::uint32_t budget_ppm = 0;
  Priority priority = Priority::kLearned;
  Type type = Type::kUnstated;
};

namespace communicator_class {
inline constexpr std::uint32_t kMark = 0x44;
inline constexpr unsigned kMarkShift = 24;
inline constexpr unsigned kTypeShift = 20;
inline constexpr unsigned kPriorityShift = 18;
inline constexpr std::uint32_t kBudgetMask = (1u << kPriorityShift) - 1;
}  // namespace communicator_class

// `budget_ppm` is at most kBudgetPpmMax.
constexpr int encode(const CommunicatorClass& from) {
  using namespace communicator_class;
  return static_cast<int>(kMark << kMarkShift |
                          static_cast<std::uint32_t>(from.type) << kTypeShift |
                          static_cast<std::uint32_t>(from.priority) << kPriorityShift |
                          (from.budget_ppm & kBudgetMask));
}

// Returns nullopt for a number that encode() does not produce.
constexpr std::optional<CommunicatorClass> decode_communicator_class(int traffic_class) {
  using namespace communicator_class;
  const auto bits = static_cast<std::uint32_t>(traffic_class);
  if (bits >> (kTypeShift + 2) != kMark << (kMarkShift - kTypeShift - 2)) return std::nullopt;
  CommunicatorClass out;
  out.budget_ppm = bits & kBudgetMask;
  const std::uint32_t priority = bits >> kPriorityShift & 3;
  if (out.budget_ppm > CommunicatorClass::kBudgetPpmMax || priority > 2) return std::nullopt;
  out.priority = static_cast<CommunicatorClass::Priority>(priority);
  out.type = static_cast<CommunicatorClass::Type>(bits >> kTypeShift & 3);
  return out;
}

}  // namespace dlcp
