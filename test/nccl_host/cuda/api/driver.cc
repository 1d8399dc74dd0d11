// The driver's entry points that NCCL gets through the runtime.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <unordered_map>

#include "cuda/device.h"
#include "cuda/error.h"
#include "cuda/kernel.h"
#include "cuda/memory.h"

using namespace softcuda;

namespace {

constexpr std::uintptr_t kFirstContext = 0x1000;  // a context is its device's number behind this

CUresult cuGetErrorString_(CUresult error, const char** text) {
  *text = cudaGetErrorString(static_cast<cudaError_t>(error));
  return CUDA_SUCCESS;
}
CUresult cuInit_(unsigned) {
  return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion_(int* version) {
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount_(int* count) {
  *count = kDevices;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet_(CUdevice* device, int number) {
  *device = number;
  return number < kDevices ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
CUresult cuDeviceGetAttribute_(int* value, CUdevice_attribute attribute, CUdevice device) {
  *value = attribute_of(device, attribute);
  return CUDA_SUCCESS;
}
// Different for each simulated host and each device.
CUresult cuDeviceGetUuid_(CUuuid* uuid, CUdevice device) {
  const char* const host = std::getenv("NCCL_HOSTID");
  const std::uint64_t hash = std::hash<std::string>()(host != nullptr ? host : "");
  std::memset(uuid, 0, sizeof *uuid);
  std::memcpy(uuid->bytes, &hash, sizeof hash);
  std::memcpy(uuid->bytes + sizeof hash, &device, sizeof device);
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent_(CUcontext* context) {
  *context = reinterpret_cast<CUcontext>(kFirstContext + static_cast<unsigned>(current_device));
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent_(CUcontext context) {
  const auto value = reinterpret_cast<std::uintptr_t>(context);
  if (value != 0) current_device = static_cast<int>(value - kFirstContext);
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice_(CUdevice* device) {
  *device = current_device;
  return CUDA_SUCCESS;
}
// NCCL calls this even if devices report no virtual memory management.
CUresult cuMemGetAllocationGranularity_(std::size_t* bytes, const CUmemAllocationProp*,
                                        CUmemAllocationGranularity_flags) {
  *bytes = std::size_t{2} << 20;
  return CUDA_SUCCESS;
}
CUresult cuMemGetAddressRange_(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr memory) {
  const auto allocation = allocation_of(reinterpret_cast<const void*>(memory));
  if (!allocation) return CUDA_ERROR_NOT_FOUND;
  if (base != nullptr) *base = allocation->base;
  if (bytes != nullptr) *bytes = allocation->bytes;
  return CUDA_SUCCESS;
}
CUresult cuPointerGetAttribute_(void* out, CUpointer_attribute attribute, CUdeviceptr memory) {
  const auto allocation = allocation_of(reinterpret_cast<const void*>(memory));
  if (!allocation) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned*>(out) =
          allocation->device == kHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(out) = allocation->device;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      *static_cast<int*>(out) = 0;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      *static_cast<CUdeviceptr*>(out) = allocation->base;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      *static_cast<std::size_t*>(out) = allocation->bytes;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

// The buffer among a launch's extra options.
Launch packed_launch(CUfunction function, void** parameters, void** extra) {
  Launch launch{function, parameters, nullptr, 0, nullptr};
  for (void** option = extra; option != nullptr && *option != CU_LAUNCH_PARAM_END; option += 2) {
    if (option[0] == CU_LAUNCH_PARAM_BUFFER_POINTER) launch.packed = option[1];
    if (option[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
      launch.packed_bytes = *static_cast<std::size_t*>(option[1]);
  }
  return launch;
}
CUresult cuLaunchKernel_(CUfunction function, unsigned, unsigned, unsigned, unsigned, unsigned,
                         unsigned, unsigned, CUstream stream, void** parameters, void** extra) {
  return static_cast<CUresult>(launch(packed_launch(function, parameters, extra), stream));
}
CUresult cuLaunchKernelEx_(const CUlaunchConfig* configuration, CUfunction function,
                           void** parameters, void** extra) {
  Launch packed = packed_launch(function, parameters, extra);
  for (unsigned i = 0; i < configuration->numAttrs; ++i) {
    const CUlaunchAttribute& attribute = configuration->attrs[i];
    if (attribute.id != CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT) continue;
    packed.started = std::make_shared<Mark>();
    reinterpret_cast<Event*>(attribute.value.launchCompletionEvent.event)->set_mark(packed.started);
  }
  return static_cast<CUresult>(launch(packed, configuration->hStream));
}

void* entry_point(const std::string& name) {
#define DLCP_ENTRY(NAME) \
  { #NAME, reinterpret_cast < void*>(NAME##_) }
  static const std::unordered_map<std::string, void*> kEntries = {
      DLCP_ENTRY(cuGetErrorString),
      {"cuGetErrorName", reinterpret_cast<void*>(cuGetErrorString_)},
      DLCP_ENTRY(cuInit),
      DLCP_ENTRY(cuDriverGetVersion),
      DLCP_ENTRY(cuDeviceGetCount),
      DLCP_ENTRY(cuDeviceGet),
      DLCP_ENTRY(cuDeviceGetAttribute),
      DLCP_ENTRY(cuDeviceGetUuid),
      DLCP_ENTRY(cuCtxGetCurrent),
      DLCP_ENTRY(cuCtxSetCurrent),
      DLCP_ENTRY(cuCtxGetDevice),
      DLCP_ENTRY(cuMemGetAllocationGranularity),
      DLCP_ENTRY(cuMemGetAddressRange),
      DLCP_ENTRY(cuPointerGetAttribute),
      DLCP_ENTRY(cuLaunchKernel),
      DLCP_ENTRY(cuLaunchKernelEx),
  };
#undef DLCP_ENTRY
  const auto found = kEntries.find(name);
  return found != kEntries.end() ? found->second : nullptr;
}

}  // namespace

SOFTCUDA_API cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function,
                                                          unsigned, unsigned long long,
                                                          cudaDriverEntryPointQueryResult* result) {
  *function = entry_point(name);
  if (result != nullptr) {
    *result =
        *function != nullptr ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  }
  return cudaSuccess;
}
#undef cudaGetDriverEntryPoint
SOFTCUDA_API cudaError_t cudaGetDriverEntryPoint(const char* name, void** function,
                                                 unsigned long long flags,
                                                 cudaDriverEntryPointQueryResult* result) {
  return cudaGetDriverEntryPointByVersion(name, function, CUDART_VERSION, flags, result);
}
