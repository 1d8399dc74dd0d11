// Values of cuda.h, which is not needed to build; a test compares them if the CUDA Toolkit is
// there.
#pragma once

namespace dlcp::gpu {

inline constexpr int kCudaInvalidValue = 1;       // CUDA_ERROR_INVALID_VALUE
inline constexpr int kCudaNoDevice = 100;         // CUDA_ERROR_NO_DEVICE
inline constexpr int kCudaDmaBufSupported = 124;  // CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED
inline constexpr int kCudaMemoryType = 2;         // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
inline constexpr int kCudaDeviceOrdinal = 9;      // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
inline constexpr unsigned kCudaDeviceMemory = 2;  // CU_MEMORYTYPE_DEVICE
inline constexpr int kCudaDmaBufDescriptor = 1;   // CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD

}  // namespace dlcp::gpu
