// The functions of the management library that NCCL calls. Declared here, because nvml.h is not
// part of the toolkit.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>

#include "cuda/device.h"
#include "cuda/error.h"

using namespace softcuda;

namespace {

using Result = int;
constexpr Result kDone = 0;
constexpr Result kInvalid = 2;
constexpr Result kNotSupported = 3;

int device_of(void* handle) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(handle)) - 1;
}

struct PciInfo {  // nvmlPciInfo_t
  char short_bus_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};

}  // namespace

SOFTCUDA_API Result nvmlInit_v2() {
  return kDone;
}
SOFTCUDA_API Result nvmlInit() {
  return kDone;
}
SOFTCUDA_API Result nvmlShutdown() {
  return kDone;
}
SOFTCUDA_API Result nvmlDeviceGetCount_v2(unsigned* count) {
  *count = kDevices;
  return kDone;
}
SOFTCUDA_API Result nvmlDeviceGetCount(unsigned* count) {
  return nvmlDeviceGetCount_v2(count);
}
SOFTCUDA_API Result nvmlDeviceGetHandleByIndex(unsigned index, void** handle) {
  *handle = reinterpret_cast<void*>(std::uintptr_t{index} + 1);
  return kDone;
}
SOFTCUDA_API Result nvmlDeviceGetHandleByPciBusId(const char* bus_id, void** handle) {
  int device = 0;
  if (cudaDeviceGetByPCIBusId(&device, bus_id) != cudaSuccess) return kInvalid;
  return nvmlDeviceGetHandleByIndex(static_cast<unsigned>(device), handle);
}
SOFTCUDA_API Result nvmlDeviceGetIndex(void* handle, unsigned* index) {
  *index = static_cast<unsigned>(device_of(handle));
  return kDone;
}
SOFTCUDA_API const char* nvmlErrorString(Result result) {
  return result == kDone ? "Success" : "not supported by softcuda";
}
SOFTCUDA_API Result nvmlDeviceGetCudaComputeCapability(void* handle, int* major, int* minor) {
  *major = attribute_of(device_of(handle), CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  *minor = attribute_of(device_of(handle), CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  return kDone;
}
SOFTCUDA_API Result nvmlDeviceGetP2PStatus(void*, void*, int, int* status) {
  *status = 1;  // the chipset does not support it
  return kDone;
}
SOFTCUDA_API Result nvmlDeviceGetPciInfo_v3(void* handle, PciInfo* info) {
  const int device = device_of(handle);
  std::snprintf(info->short_bus_id, sizeof info->short_bus_id, "%s", bus_id_of(device).c_str());
  std::snprintf(info->bus_id, sizeof info->bus_id, "%s", bus_id_of(device).c_str());
  info->domain = info->device = info->subsystem_id = 0;
  info->bus = static_cast<unsigned>(attribute_of(device, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID));
  info->device_id = 0x20b010de;
  return kDone;
}
SOFTCUDA_API Result nvmlDeviceGetCurrPcieLinkGeneration(void*, unsigned* generation) {
  *generation = 4;
  return kDone;
}
SOFTCUDA_API Result nvmlDeviceGetCurrPcieLinkWidth(void*, unsigned* width) {
  *width = 16;
  return kDone;
}
SOFTCUDA_API Result nvmlDeviceGetPcieLinkMaxSpeed(void*, unsigned* megabytes_per_second) {
  *megabytes_per_second = 16'000;
  return kDone;
}

#define DLCP_NOT_SUPPORTED(NAME) \
  SOFTCUDA_API Result NAME() {   \
    return kNotSupported;        \
  }
DLCP_NOT_SUPPORTED(nvmlDeviceGetNvLinkState)
DLCP_NOT_SUPPORTED(nvmlDeviceGetNvLinkRemotePciInfo)
DLCP_NOT_SUPPORTED(nvmlDeviceGetNvLinkCapability)
DLCP_NOT_SUPPORTED(nvmlDeviceGetFieldValues)
DLCP_NOT_SUPPORTED(nvmlDeviceGetPciInfoExt)
DLCP_NOT_SUPPORTED(nvmlDeviceGetGpuFabricInfoV)
DLCP_NOT_SUPPORTED(nvmlDeviceGetPlatformInfo)
DLCP_NOT_SUPPORTED(nvmlSystemGetConfComputeState)
DLCP_NOT_SUPPORTED(nvmlSystemGetConfComputeSettings)
