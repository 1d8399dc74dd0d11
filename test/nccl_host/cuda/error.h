// The calling thread's device and its last error, as CUDA keeps them.
#pragma once

#include <cuda_runtime_api.h>

namespace softcuda {

inline thread_local int current_device = 0;
inline thread_local cudaError_t last_error = cudaSuccess;

inline cudaError_t failed(cudaError_t error) {
  last_error = error;
  return error;
}

inline constexpr int kDevices = 8;

}  // namespace softcuda

// For functions that NCCL finds by name.
#define SOFTCUDA_API extern "C" __attribute__((visibility("default")))
