// The part of the runtime that concerns memory. Operations on the default stream follow everything
// in the queues of the device's blocking streams; so copies on it are performed at once.
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "cuda/error.h"
#include "cuda/memory.h"
#include "cuda/stream.h"

using namespace softcuda;

SOFTCUDA_API cudaError_t cudaMalloc(void** out, std::size_t bytes) {
  return allocate(out, bytes, current_device);
}
SOFTCUDA_API cudaError_t cudaFree(void* memory) {
  return release(memory);
}
SOFTCUDA_API cudaError_t cudaMallocHost(void** out, std::size_t bytes) {
  return allocate(out, bytes, kHost);
}
SOFTCUDA_API cudaError_t cudaHostAlloc(void** out, std::size_t bytes, unsigned) {
  return allocate(out, bytes, kHost);
}
SOFTCUDA_API cudaError_t cudaFreeHost(void* memory) {
  return release(memory);
}
SOFTCUDA_API cudaError_t cudaHostGetDevicePointer(void** out, void* memory, unsigned) {
  *out = memory;
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaHostRegister(void* memory, std::size_t bytes, unsigned) {
  return adopt(memory, bytes);
}
SOFTCUDA_API cudaError_t cudaHostUnregister(void* memory) {
  return release(memory);
}
SOFTCUDA_API cudaError_t cudaMallocAsync(void** out, std::size_t bytes, cudaStream_t) {
  return allocate(out, bytes, current_device);
}
SOFTCUDA_API cudaError_t cudaMallocFromPoolAsync(void** out, std::size_t bytes, cudaMemPool_t,
                                                 cudaStream_t) {
  return allocate(out, bytes, current_device);
}
SOFTCUDA_API cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  stream_of(stream).push([memory] { release(memory); });
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps*) {
  *pool = static_cast<cudaMemPool_t>(std::malloc(1));
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  std::free(pool);
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = std::size_t{15} << 30;
  *total = std::size_t{16} << 30;
  return cudaSuccess;
}

SOFTCUDA_API cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  wait_for_blocking_streams();
  std::memmove(to, from, bytes);
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                         cudaMemcpyKind kind, cudaStream_t stream) {
  if (is_default(stream)) return cudaMemcpy(to, from, bytes, kind);
  // Memory that is neither a device's nor pinned is staged before the call returns, as small copies
  // are on real devices.
  constexpr std::size_t kStaged = std::size_t{1} << 20;
  if (!allocation_of(from) && bytes <= kStaged) {
    const auto* const begin = static_cast<const std::byte*>(from);
    auto copy = std::make_shared<std::vector<std::byte>>(begin, begin + bytes);
    stream_of(stream).push([=] { std::memcpy(to, copy->data(), bytes); });
  } else {
    stream_of(stream).push([=] { std::memmove(to, from, bytes); });
  }
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from,
                                              const std::size_t* bytes, std::size_t count,
                                              cudaMemcpyAttributes*, std::size_t*, std::size_t,
                                              cudaStream_t stream) {
  for (std::size_t i = 0; i < count; ++i)
    cudaMemcpyAsync(to[i], from[i], bytes[i], cudaMemcpyDefault, stream);
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  wait_for_blocking_streams();
  std::memset(memory, value, bytes);
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes,
                                         cudaStream_t stream) {
  if (is_default(stream)) return cudaMemset(memory, value, bytes);
  stream_of(stream).push([=] { std::memset(memory, value, bytes); });
  return cudaSuccess;
}

SOFTCUDA_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                                  const void* memory) {
  std::memset(attributes, 0, sizeof *attributes);
  const auto allocation = allocation_of(memory);
  if (!allocation) {
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->device = -2;
    return cudaSuccess;
  }
  const bool is_host = allocation->device == kHost;
  attributes->type = is_host ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
  attributes->device = is_host ? 0 : allocation->device;
  attributes->devicePointer = const_cast<void*>(memory);
  attributes->hostPointer = is_host ? const_cast<void*>(memory) : nullptr;
  return cudaSuccess;
}
