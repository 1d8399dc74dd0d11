// The CUDA driver's functions over host memory, with one GPU. An allocation is exported as a memfd.
// Kernels do not run; launches are recorded.
#pragma once

#include <sys/mman.h>

#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "gpu/cuda_driver.h"
#include "gpu/cuda_values.h"

namespace dlcp::gpu::test {

struct FakeCuda {
  static inline FakeCuda* current = nullptr;  // the driver's functions have no argument for it
  FakeCuda() { current = this; }
  ~FakeCuda() { current = nullptr; }

  std::map<std::uint64_t, std::size_t> allocations;
  int gpus = 1;
  int init_result = 0;
  int dma_buf_supported = 1;
  std::string missing;  // the driver has no function of this name
  std::uint64_t exported_from = 0;
  std::size_t exported_bytes = 0;
  std::vector<std::string> functions;  // found in modules
  std::vector<std::vector<unsigned>> launches;
  int modules = 0;

  CudaDriver::LookUp look_up() {
    return [this](const char* name) -> void* {
      const auto found = table().find(name);
      return name == missing || found == table().end() ? nullptr : found->second;
    };
  }

 private:
  template <class Function>
  static void* pointer(Function* function) {
    return reinterpret_cast<void*>(function);
  }
  static const std::map<std::string, void*>& table() {
    static const std::map<std::string, void*> functions{
        {"cuInit", pointer(+[](unsigned) { return current->init_result; })},
        {"cuGetErrorName", pointer(+[](int result, const char** name) {
           *name = result == kCudaNoDevice ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_OTHER";
           return 0;
         })},
        {"cuGetErrorString", pointer(+[](int, const char** text) {
           *text = "no CUDA-capable device is detected";
           return 0;
         })},
        {"cuDeviceGetCount", pointer(+[](int* count) {
           *count = current->gpus;
           return 0;
         })},
        {"cuDeviceGet", pointer(+[](int* device, int index) {
           *device = index;
           return index < current->gpus ? 0 : 101;
         })},
        {"cuDeviceGetName", pointer(+[](char* name, int, int) {
           std::strcpy(name, "Fake GPU");
           return 0;
         })},
        {"cuDeviceGetPCIBusId", pointer(+[](char* id, int, int) {
           std::strcpy(id, "0000:1B:00.0");
           return 0;
         })},
        {"cuDeviceGetAttribute", pointer(+[](int* value, int attribute, int) {
           *value = attribute == kCudaDmaBufSupported ? current->dma_buf_supported : 0;
           return 0;
         })},
        {"cuPointerGetAttribute", pointer(&pointer_attribute)},
        {"cuMemGetAddressRange_v2", pointer(&address_range)},
        {"cuMemGetHandleForAddressRange", pointer(&export_range)},
        {"cuMemsetD8Async",
         pointer(+[](std::uint64_t at, unsigned char value, std::size_t bytes, void*) {
           std::memset(reinterpret_cast<void*>(at), value, bytes);
           return 0;
         })},
        {"cuStreamSynchronize", pointer(+[](void*) { return 0; })},
        {"cuModuleLoadData", pointer(+[](void** module, const void*) {
           ++current->modules;
           *module = current;
           return 0;
         })},
        {"cuModuleUnload", pointer(+[](void*) { return --current->modules; })},
        {"cuModuleGetFunction", pointer(+[](void** function, void*, const char* name) {
           current->functions.push_back(name);
           *function = &current->functions;
           return 0;
         })},
        {"cuLaunchKernel", pointer(+[](void*, unsigned blocks, unsigned, unsigned, unsigned threads,
                                       unsigned, unsigned, unsigned, void*, void**, void**) {
           current->launches.push_back({blocks, threads});
           return 0;
         })},
    };
    return functions;
  }

  static const std::pair<const std::uint64_t, std::size_t>* allocation(std::uint64_t address) {
    for (const auto& each : current->allocations)
      if (address >= each.first && address < each.first + each.second) return &each;
    return nullptr;
  }
  static int pointer_attribute(void* value, int attribute, std::uint64_t address) {
    if (allocation(address) == nullptr) return kCudaInvalidValue;
    if (attribute == kCudaMemoryType) *static_cast<unsigned*>(value) = kCudaDeviceMemory;
    if (attribute == kCudaDeviceOrdinal) *static_cast<int*>(value) = 0;
    return 0;
  }
  static int address_range(std::uint64_t* begin, std::size_t* bytes, std::uint64_t address) {
    const auto* found = allocation(address);
    if (found == nullptr) return kCudaInvalidValue;
    *begin = found->first;
    *bytes = found->second;
    return 0;
  }
  static int export_range(void* descriptor, std::uint64_t address, std::size_t bytes, int type,
                          unsigned long long) {
    if (type != kCudaDmaBufDescriptor || address % 4096 != 0 || bytes % 4096 != 0)
      return kCudaInvalidValue;
    current->exported_from = address;
    current->exported_bytes = bytes;
    const int made = memfd_create("gpu", MFD_CLOEXEC);
    std::memcpy(descriptor, &made, sizeof made);
    return 0;
  }
};

}  // namespace dlcp::gpu::test
