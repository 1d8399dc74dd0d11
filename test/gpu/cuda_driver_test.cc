// The CUDA driver's calls and the launch of the kernels, over a driver in host memory.
#include "gpu/cuda_driver.h"

#include <array>

#include "../catch.h"
#include "fake_cuda.h"
#include "gpu/magnitude_kernel.h"

#if defined(DLCP_TEST_CUDA_HEADER)
#include <cuda.h>
static_assert(dlcp::gpu::kCudaInvalidValue == CUDA_ERROR_INVALID_VALUE);
static_assert(dlcp::gpu::kCudaNoDevice == CUDA_ERROR_NO_DEVICE);
static_assert(dlcp::gpu::kCudaDmaBufSupported == CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED);
static_assert(dlcp::gpu::kCudaMemoryType == CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
static_assert(dlcp::gpu::kCudaDeviceOrdinal == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
static_assert(dlcp::gpu::kCudaDeviceMemory == CU_MEMORYTYPE_DEVICE);
static_assert(dlcp::gpu::kCudaDmaBufDescriptor == CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD);
static_assert(sizeof(CUdeviceptr) == sizeof(std::uint64_t));
#endif

namespace dlcp::gpu::test {
namespace {

// Page-aligned memory that the driver takes for GPU memory.
struct GpuMemory {
  explicit GpuMemory(FakeCuda& cuda) { cuda.allocations[address()] = bytes.size(); }
  std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(bytes.data()); }
  alignas(4096) std::array<std::byte, 3 * 4096> bytes{};
};

TEST_CASE("GPUs are described as sysfs names them") {
  FakeCuda cuda;
  const auto driver = CudaDriver::open(cuda.look_up());
  REQUIRE(driver.ok());
  CHECK(driver.value()->devices() == 1);
  const GpuDevice device = driver.value()->device(0).value();
  CHECK(device.name == "Fake GPU");
  CHECK(device.pci_bus_id == "0000:1b:00.0");
  CHECK(device.exports_dma_buf);
  CHECK_FALSE(driver.value()->device(1).ok());
}

TEST_CASE("the driver knows which memory belongs to a GPU") {
  FakeCuda cuda;
  const auto driver = CudaDriver::open(cuda.look_up()).value();
  GpuMemory memory(cuda);
  const int host = 0;
  CHECK_FALSE(driver->allocation_of(&host).value().has_value());
  const auto allocation = driver->allocation_of(memory.bytes.data() + 5000).value();
  REQUIRE(allocation.has_value());
  CHECK(allocation->begin == memory.address());
  CHECK(allocation->bytes == memory.bytes.size());
  REQUIRE(driver->fill(std::span(memory.bytes).subspan(10, 20), 7).ok());
  CHECK(memory.bytes[29] == std::byte{7});
  CHECK(memory.bytes[30] == std::byte{0});
}

TEST_CASE("whole pages are exported as dma-buf") {
  FakeCuda cuda;
  const auto driver = CudaDriver::open(cuda.look_up()).value();
  GpuMemory memory(cuda);
  const auto exported = driver->export_dma_buf(std::span(memory.bytes).subspan(4096 + 100, 4000));
  REQUIRE(exported.ok());
  CHECK(exported.value().descriptor.valid());
  CHECK(exported.value().offset == 100);
  CHECK(cuda.exported_from == memory.address() + 4096);
  CHECK(cuda.exported_bytes == 2 * 4096);
}

TEST_CASE("an old driver works, but exports nothing") {
  FakeCuda cuda;
  cuda.missing = "cuMemGetHandleForAddressRange";
  const auto driver = CudaDriver::open(cuda.look_up()).value();
  GpuMemory memory(cuda);
  CHECK_FALSE(driver->device(0).value().exports_dma_buf);
  const auto exported = driver->export_dma_buf(memory.bytes);
  REQUIRE_FALSE(exported.ok());
  CHECK_THAT(exported.error().message(), Contains("cuMemGetHandleForAddressRange"));
  CHECK_THAT(exported.error().message(), Contains("newer NVIDIA driver"));
}

TEST_CASE("a driver that cannot be used is described") {
  FakeCuda cuda;
  cuda.missing = "cuLaunchKernel";
  const auto incomplete = CudaDriver::open(cuda.look_up());
  REQUIRE_FALSE(incomplete.ok());
  CHECK_THAT(incomplete.error().what, Contains("has no cuLaunchKernel"));
  cuda.missing.clear();
  cuda.init_result = kCudaNoDevice;
  const auto without = CudaDriver::open(cuda.look_up());
  REQUIRE_FALSE(without.ok());
  CHECK_THAT(without.error().message(), Contains("CUDA_ERROR_NO_DEVICE, 100"));
  CHECK_THAT(without.error().message(), Contains("nvidia-smi"));
}

TEST_CASE("the magnitude kernel is started with a thread for each of eight sums of a packet") {
  FakeCuda cuda;
  std::shared_ptr<const CudaDriver> driver = CudaDriver::open(cuda.look_up()).value();
  auto loaded = MagnitudeKernel::load(driver);
  if (magnitude_image().empty()) {
    CHECK_THAT(loaded.error().what, Contains("no GPU kernels"));
    return;
  }
  REQUIRE(loaded.ok());
  CHECK(cuda.functions.size() == 3);
  GpuMemory memory(cuda);
  float means[200];
  using gradient::ElementType;
  const MagnitudeKernel& kernel = *loaded.value();
  REQUIRE(kernel.start(ElementType::kBfloat16, memory.bytes, 64, means).ok());
  CHECK(cuda.launches == std::vector<std::vector<unsigned>>{{6, 256}});  // 192 packets of 32
  CHECK(kernel.start(ElementType::kBfloat16, {}, 64, means).ok());
  CHECK_FALSE(kernel.start(ElementType::kFloat32, memory.bytes, 66, means).ok());
  CHECK_FALSE(kernel.start(ElementType::kOther, memory.bytes, 64, means).ok());
  CHECK_FALSE(
      kernel.start(ElementType::kFloat16, std::span(memory.bytes).subspan(1), 64, means).ok());
  CHECK(cuda.launches.size() == 1);
  CHECK(cuda.modules == 1);
  loaded.value().reset();
  CHECK(cuda.modules == 0);
}

}  // namespace
}  // namespace dlcp::gpu::test
