// Handles of profiler events: kind (2 bits), step or channel (24) and number (38). They are
// numbers, not pointers, because NCCL may pass handles of events that were forgotten, or of other
// processes.
#pragma once

#include <cstdint>

namespace dlcp::nccl {

enum class EventKind : std::uint64_t { kKernel = 0, kCollective = 1, kOperation = 2, kStep = 3 };

inline constexpr unsigned kNumberBits = 38;
inline constexpr unsigned kStepBits = 24;
inline constexpr std::uint64_t kNumberMask = (std::uint64_t{1} << kNumberBits) - 1;
inline constexpr std::uint64_t kStepMask = (std::uint64_t{1} << kStepBits) - 1;

inline std::uint64_t event_handle(EventKind kind, std::uint64_t number, std::uint64_t step = 0) {
  return static_cast<std::uint64_t>(kind) << (kNumberBits + kStepBits) | step << kNumberBits |
         (number & kNumberMask);
}
inline EventKind kind_of(std::uint64_t handle) {
  return static_cast<EventKind>(handle >> (kNumberBits + kStepBits));
}
inline std::uint64_t number_of(std::uint64_t handle) {
  return handle & kNumberMask;
}
inline std::uint32_t step_of_handle(std::uint64_t handle) {
  return static_cast<std::uint32_t>(handle >> kNumberBits & kStepMask);
}

}  // namespace dlcp::nccl
