// The part of the runtime that answers queries about devices and errors.
#include "device.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <strings.h>

#include <cstdio>
#include <cstring>

#include "error.h"
#include "stream.h"

using namespace softcuda;

namespace softcuda {

int attribute_of(int device, int attribute) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
      return 0x7fff'ffff;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      return 32;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return 108;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      return 48 << 10;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      return 163 << 10;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      return 164 << 10;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return 9;  // below 9 NCCL refuses 8-bit floats
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return 0;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
      return 0x10 + device;
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
      return 1;
    default:
      return 0;
  }
}

std::string bus_id_of(int device) {
  char text[16];
  std::snprintf(text, sizeof text, "0000:%02x:00.0",
                attribute_of(device, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID));
  return text;
}

}  // namespace softcuda

SOFTCUDA_API cudaError_t cudaGetDeviceCount(int* count) {
  *count = kDevices;
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaGetDevice(int* device) {
  *device = current_device;
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= kDevices) return failed(cudaErrorInvalidDevice);
  current_device = device;
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  *value = attribute_of(device, static_cast<int>(attribute));
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaDeviceSetLimit(cudaLimit, std::size_t) {
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaDeviceGetPCIBusId(char* text, int bytes, int device) {
  std::snprintf(text, static_cast<std::size_t>(bytes), "%s", bus_id_of(device).c_str());
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  for (int candidate = 0; candidate < kDevices; ++candidate) {
    if (strcasecmp(bus_id_of(candidate).c_str(), text) != 0) continue;
    *device = candidate;
    return cudaSuccess;
  }
  return failed(cudaErrorInvalidDevice);
}
SOFTCUDA_API cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
  return cudaSuccess;
}

#undef cudaGetDeviceProperties
SOFTCUDA_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  std::memset(properties, 0, sizeof *properties);
  std::snprintf(properties->name, sizeof properties->name, "softcuda");
  properties->totalGlobalMem = std::size_t{16} << 30;
  properties->major = attribute_of(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  properties->minor = attribute_of(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  properties->multiProcessorCount = attribute_of(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  properties->warpSize = attribute_of(device, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  properties->maxThreadsPerBlock = attribute_of(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  properties->unifiedAddressing = 1;
  properties->canMapHostMemory = 1;
  properties->pciBusID = attribute_of(device, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
  return cudaSuccess;
}

SOFTCUDA_API cudaError_t cudaDeviceSynchronize() {
  wait_for_all_streams();
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaDeviceReset() {
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  *lowest = *highest = 0;
  return cudaSuccess;
}

SOFTCUDA_API cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}
SOFTCUDA_API cudaError_t cudaPeekAtLastError() {
  return last_error;
}
SOFTCUDA_API const char* cudaGetErrorName(cudaError_t error) {
  return cudaGetErrorString(error);
}
SOFTCUDA_API const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorNotReady:
      return "device not ready";
    case cudaErrorNotSupported:
      return "not supported by softcuda";
    case cudaErrorInvalidDeviceFunction:
      return "the kernel has no function on the host";
    default:
      return "another error of softcuda";
  }
}
