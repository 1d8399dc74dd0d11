#include "gpu/cuda_driver.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <type_traits>
#include <utility>

#include "gpu/cuda_values.h"

namespace dlcp::gpu {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";
constexpr const char* kNewerDriver = "install a newer NVIDIA driver";

}  // namespace

// Types that are handles in cuda.h are void* here.
struct CudaDriver::Functions {
  int (*init)(unsigned flags) = nullptr;
  int (*error_name)(int result, const char** name) = nullptr;
  int (*error_string)(int result, const char** text) = nullptr;
  int (*device_count)(int* count) = nullptr;
  int (*device_get)(int* device, int index) = nullptr;
  int (*device_name)(char* name, int bytes, int device) = nullptr;
  int (*device_bus_id)(char* id, int bytes, int device) = nullptr;
  int (*device_attribute)(int* value, int attribute, int device) = nullptr;
  int (*pointer_attribute)(void* value, int attribute, std::uint64_t address) = nullptr;
  int (*address_range)(std::uint64_t* begin, std::size_t* bytes, std::uint64_t address) = nullptr;
  int (*fill)(std::uint64_t address, unsigned char value, std::size_t bytes,
              void* stream) = nullptr;
  int (*wait)(void* stream) = nullptr;
  int (*load_module)(void** module, const void* image) = nullptr;
  int (*unload_module)(void* module) = nullptr;
  int (*function)(void** function, void* module, const char* name) = nullptr;
  int (*launch)(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                unsigned shared_bytes, void* stream, void** arguments, void** extra) = nullptr;
  // Since CUDA 11.7; null in older drivers.
  int (*export_range)(void* descriptor, std::uint64_t address, std::size_t bytes, int type,
                      unsigned long long flags) = nullptr;

  // Returns the name of the first function that is missing, or null.
  const char* find_all(const LookUp& look_up) {
    const char* missing = nullptr;
    const auto find = [&](const char* name, auto& pointer) {
      pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(look_up(name));
      if (pointer == nullptr && missing == nullptr) missing = name;
    };
    find("cuInit", init);
    find("cuGetErrorName", error_name);
    find("cuGetErrorString", error_string);
    find("cuDeviceGetCount", device_count);
    find("cuDeviceGet", device_get);
    find("cuDeviceGetName", device_name);
    find("cuDeviceGetPCIBusId", device_bus_id);
    find("cuDeviceGetAttribute", device_attribute);
    find("cuPointerGetAttribute", pointer_attribute);
    find("cuMemGetAddressRange_v2", address_range);
    find("cuMemsetD8Async", fill);
    find("cuStreamSynchronize", wait);
    find("cuModuleLoadData", load_module);
    find("cuModuleUnload", unload_module);
    find("cuModuleGetFunction", function);
    find("cuLaunchKernel", launch);
    const char* const required = missing;
    find("cuMemGetHandleForAddressRange", export_range);
    return required;
  }
};

CudaDriver::CudaDriver(std::unique_ptr<Functions> functions) : f_(std::move(functions)) {}
CudaDriver::~CudaDriver() = default;

Result<std::unique_ptr<CudaDriver>> CudaDriver::load() {
  void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);  // never closed: it may have threads
  if (library == nullptr) {
    return Error{ErrorCode::kSystem, fmt::format("{} cannot be loaded: {}", kLibrary, ::dlerror()),
                 "install the NVIDIA driver, or in a container pass the GPUs through"};
  }
  return open([library](const char* name) { return ::dlsym(library, name); });
}

Result<std::unique_ptr<CudaDriver>> CudaDriver::open(const LookUp& look_up) {
  auto functions = std::make_unique<Functions>();
  if (const char* missing = functions->find_all(look_up); missing != nullptr)
    return Error{ErrorCode::kSystem, fmt::format("{} has no {}", kLibrary, missing), kNewerDriver};
  std::unique_ptr<CudaDriver> driver(new CudaDriver(std::move(functions)));
  if (const int result = driver->f_->init(0); result != 0)
    return driver->failed("initialise the CUDA driver", result);
  if (const int result = driver->f_->device_count(&driver->devices_); result != 0)
    return driver->failed("count the GPUs", result);
  return driver;
}

Error CudaDriver::failed(const char* what, int result) const {
  const char* name = nullptr;
  const char* text = nullptr;
  f_->error_name(result, &name);
  f_->error_string(result, &text);
  return {ErrorCode::kSystem,
          fmt::format("cannot {}: {} ({}, {})", what, text != nullptr ? text : "unknown error",
                      name != nullptr ? name : "no name", result),
          result == kCudaNoDevice ? "see whether nvidia-smi lists a GPU; CUDA_VISIBLE_DEVICES may "
                                    "hide it"
                                  : ""};
}

Result<GpuDevice> CudaDriver::device(int index) const {
  int handle = 0;
  if (const int result = f_->device_get(&handle, index); result != 0)
    return failed("open the GPU", result);
  std::array<char, 256> text{};
  GpuDevice device;
  if (const int result = f_->device_name(text.data(), static_cast<int>(text.size()), handle))
    return failed("read the GPU's name", result);
  device.name = text.data();
  if (const int result = f_->device_bus_id(text.data(), static_cast<int>(text.size()), handle))
    return failed("read the GPU's PCI address", result);
  device.pci_bus_id = text.data();
  for (char& digit : device.pci_bus_id)  // sysfs has lower-case digits
    if (digit >= 'A' && digit <= 'F') digit = static_cast<char>(digit - 'A' + 'a');
  int value = 0;
  device.exports_dma_buf = f_->export_range != nullptr &&
                           f_->device_attribute(&value, kCudaDmaBufSupported, handle) == 0 &&
                           value != 0;
  return device;
}

// The driver does not know memory of the process that was not allocated or registered through it.
Result<std::optional<GpuAllocation>> CudaDriver::allocation_of(const void* address) const {
  const auto at = std::uint64_t{reinterpret_cast<std::uintptr_t>(address)};
  unsigned type = 0;
  const int asked = f_->pointer_attribute(&type, kCudaMemoryType, at);
  if (asked == kCudaInvalidValue || (asked == 0 && type != kCudaDeviceMemory))
    return std::optional<GpuAllocation>();
  if (asked != 0) return failed("find out whether an address is in GPU memory", asked);
  GpuAllocation allocation;
  if (const int result = f_->pointer_attribute(&allocation.device, kCudaDeviceOrdinal, at))
    return failed("find the GPU of an address", result);
  std::uint64_t begin = 0;
  if (const int result = f_->address_range(&begin, &allocation.bytes, at))
    return failed("find the allocation of an address in GPU memory", result);
  allocation.begin = begin;
  return std::optional(allocation);
}

Result<DmaBuf> CudaDriver::export_dma_buf(std::span<std::byte> memory) const {
  if (f_->export_range == nullptr) {
    return Error{ErrorCode::kSystem,
                 "the CUDA driver cannot export GPU memory as dma-buf (it has no "
                 "cuMemGetHandleForAddressRange)",
                 kNewerDriver};
  }
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = std::uint64_t{reinterpret_cast<std::uintptr_t>(memory.data())};
  const std::uint64_t from = begin / page * page;
  const std::uint64_t to = (begin + memory.size() + page - 1) / page * page;
  int descriptor = -1;
  if (const int result = f_->export_range(&descriptor, from, to - from, kCudaDmaBufDescriptor, 0))
    return failed("export GPU memory as dma-buf", result);
  return DmaBuf{Fd(descriptor), begin - from};
}

Status CudaDriver::fill(std::span<std::byte> memory, std::uint8_t value) const {
  const auto at = std::uint64_t{reinterpret_cast<std::uintptr_t>(memory.data())};
  if (const int result = f_->fill(at, value, memory.size(), nullptr))
    return failed("fill GPU memory", result);
  return Unit{};
}

Status CudaDriver::wait() const {
  if (const int result = f_->wait(nullptr)) return failed("wait for the GPU", result);
  return Unit{};
}

Result<void*> CudaDriver::load_module(std::span<const std::byte> image) const {
  void* module = nullptr;
  if (const int result = f_->load_module(&module, image.data()))
    return failed("load the kernels into the GPU", result);
  return module;
}

void CudaDriver::unload_module(void* module) const {
  f_->unload_module(module);
}

Result<void*> CudaDriver::function(void* module, const char* name) const {
  void* found = nullptr;
  if (const int result = f_->function(&found, module, name))
    return failed(fmt::format("find the kernel {}", name).c_str(), result);
  return found;
}

Status CudaDriver::launch(void* function, std::uint32_t blocks, std::uint32_t threads,
                          std::span<void*> arguments) const {
  if (const int result =
          f_->launch(function, blocks, 1, 1, threads, 1, 1, 0, nullptr, arguments.data(), nullptr))
    return failed("start a kernel", result);
  return Unit{};
}

}  // namespace dlcp::gpu
