// Memory of simulated devices: pages of the host, registered by address, so that a pointer
// identifies its device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace softcuda {

inline constexpr int kHost = -1;  // used instead of a device's number

struct Allocation {
  std::uintptr_t base = 0;
  std::size_t bytes = 0;  // whole pages
  int device = kHost;
  bool is_callers = false;  // registered by the caller, who also frees it
};

cudaError_t allocate(void** out, std::size_t bytes, int device);
cudaError_t adopt(void* memory, std::size_t bytes);
cudaError_t release(void* memory);
std::optional<Allocation> allocation_of(const void* memory);

}  // namespace softcuda
