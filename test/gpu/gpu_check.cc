// Checks on a GPU what DLCP needs of one and what no test without a GPU can show: that the driver
// loads and describes the GPU, that a buffer can be exported as dma-buf, and that the magnitude
// kernel computes the same bits as the processor. Needs no network card. Prints one line for each
// check.
//
// Exit: 0 all passed, 1 one failed, 77 no GPU here.
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <vector>

#include "gpu/cuda_driver.h"
#include "gpu/magnitude_kernel.h"
#include "util/rng.h"

using namespace dlcp;
using gradient::ElementType;

namespace {

constexpr int kExitNoGpu = 77;
constexpr std::size_t kMessageBytes = std::size_t{4} << 20;
constexpr std::uint32_t kPacketBytes = 4096;

bool all_passed = true;

void report(const char* check, const Status& result, const std::string& seen = "") {
  all_passed = all_passed && result.ok();
  fmt::print("  {:<28} {}\n", check,
             result ? "ok" + (seen.empty() ? seen : ", " + seen) : result.error().message());
}

Status require(bool holds, std::string otherwise) {
  if (holds) return Unit{};
  return Error{ErrorCode::kInternal, std::move(otherwise), ""};
}

// Memory of the GPU, or of the host that the GPU can access.
class CudaMemory {
 public:
  CudaMemory(std::size_t bytes, bool on_gpu) : bytes_(bytes), on_gpu_(on_gpu) {
    const cudaError_t made = on_gpu ? cudaMalloc(&at_, bytes) : cudaMallocHost(&at_, bytes);
    if (made != cudaSuccess) at_ = nullptr;
  }
  ~CudaMemory() { on_gpu_ ? cudaFree(at_) : cudaFreeHost(at_); }
  CudaMemory(const CudaMemory&) = delete;
  CudaMemory& operator=(const CudaMemory&) = delete;
  std::span<std::byte> bytes() const { return {static_cast<std::byte*>(at_), bytes_}; }

 private:
  void* at_ = nullptr;
  std::size_t bytes_;
  bool on_gpu_;
};

// Elements of all kinds: subnormal, common and huge ones, and in some packets NaN and infinity.
std::vector<std::byte> draw_message(ElementType type, Rng& rng) {
  std::vector<std::byte> message(kMessageBytes - 6);  // the last packet is not full
  const std::size_t size = gradient::element_bytes(type);
  for (std::size_t at = 0; at + size <= message.size(); at += size) {
    const auto value = static_cast<float>((rng.unit() - 0.5) *
                                          std::ldexp(1.0, static_cast<int>(rng.below(60)) - 40));
    auto bits = std::bit_cast<std::uint32_t>(value);
    if (size == 2) bits >>= 16;
    if (rng.below(20'000) == 0) bits = static_cast<std::uint32_t>(rng.below(1u << 31));
    std::memcpy(message.data() + at, &bits, size);
  }
  return message;
}

Status check_magnitudes(const gpu::CudaDriver& driver, const gpu::MagnitudeKernel& kernel,
                        ElementType type, std::string& seen) {
  Rng rng(17);
  const auto message = draw_message(type, rng);
  const std::size_t packets = (message.size() + kPacketBytes - 1) / kPacketBytes;
  const CudaMemory on_gpu(message.size(), true);
  const CudaMemory means(packets * sizeof(float), false);
  if (on_gpu.bytes().data() == nullptr || means.bytes().data() == nullptr)
    return require(false, "cannot allocate memory");
  cudaMemcpy(on_gpu.bytes().data(), message.data(), message.size(), cudaMemcpyHostToDevice);
  auto* const values = reinterpret_cast<float*>(means.bytes().data());
  for (int run = 0; run < 2; ++run) {  // the second one is timed
    const auto start = std::chrono::steady_clock::now();
    if (auto started = kernel.start(type, on_gpu.bytes(), kPacketBytes, values); !started)
      return started;
    if (auto done = driver.wait(); !done) return done;
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    seen = fmt::format("{} packets equal bit for bit, {:.0f} us", packets, took.count());
  }
  for (std::size_t i = 0; i < packets; ++i) {
    const auto packet = std::span(message).subspan(
        i * kPacketBytes, std::min<std::size_t>(kPacketBytes, message.size() - i * kPacketBytes));
    const float expected = gradient::magnitude_forms().front().mean(type, packet);
    if (std::bit_cast<std::uint32_t>(expected) != std::bit_cast<std::uint32_t>(values[i]))
      return require(false, fmt::format("packet {}: {} instead of {}", i, values[i], expected));
  }
  return Unit{};
}

Status check_allocation(const gpu::CudaDriver& driver, std::span<std::byte> memory) {
  const int on_host = 0;
  auto host = driver.allocation_of(&on_host);
  if (!host) return host.error();
  if (host.value()) return require(false, "the driver takes host memory for GPU memory");
  auto found = driver.allocation_of(memory.data() + 1000);
  if (!found) return found.error();
  return require(found.value() && found.value()->bytes >= memory.size(),
                 "the driver does not find an allocation of the CUDA runtime");
}

// As the holes of a lost packet are filled.
Status check_fill(const gpu::CudaDriver& driver, std::span<std::byte> memory) {
  std::vector<std::byte> copy(4096, std::byte{1});
  cudaMemcpy(memory.data(), copy.data(), copy.size(), cudaMemcpyHostToDevice);
  if (auto done = driver.fill(memory.subspan(100, 1000), 0); !done) return done;
  if (auto done = driver.wait(); !done) return done;
  cudaMemcpy(copy.data(), memory.data(), copy.size(), cudaMemcpyDeviceToHost);
  for (std::size_t i = 0; i < copy.size(); ++i)
    if (copy[i] != std::byte{i < 100 || i >= 1100})
      return require(false, fmt::format("byte {} has the wrong value", i));
  return Unit{};
}

void check_gpu(const std::shared_ptr<const gpu::CudaDriver>& driver, const gpu::GpuDevice& device) {
  const CudaMemory memory(kMessageBytes, true);
  if (memory.bytes().data() == nullptr) {
    report("memory", require(false, "cannot allocate 4 MiB of GPU memory"));
    return;
  }
  report("memory is recognised", check_allocation(*driver, memory.bytes()));
  report("memory is filled", check_fill(*driver, memory.bytes()));
  if (device.exports_dma_buf) {
    auto exported = driver->export_dma_buf(memory.bytes());
    report("memory exported as dma-buf", exported ? Status(Unit{}) : Status(exported.error()));
  } else {
    fmt::print("  {:<28} not offered by this GPU, driver or kernel\n",
               "memory exported as dma-buf");
  }
  auto kernel = gpu::MagnitudeKernel::load(driver);
  report("kernels loaded", kernel ? Status(Unit{}) : Status(kernel.error()));
  if (!kernel) return;
  for (const auto& [name, type] : {std::pair("magnitudes of fp32", ElementType::kFloat32),
                                   std::pair("magnitudes of fp16", ElementType::kFloat16),
                                   std::pair("magnitudes of bf16", ElementType::kBfloat16)}) {
    std::string seen;
    const Status checked = check_magnitudes(*driver, *kernel.value(), type, seen);
    report(name, checked, seen);
  }
}

}  // namespace

int main() {
  auto loaded = gpu::CudaDriver::load();
  if (!loaded) {
    fmt::print("gpu_check: {}\n", loaded.error().message());
    return kExitNoGpu;
  }
  const std::shared_ptr<const gpu::CudaDriver> driver = std::move(loaded).value();
  for (int index = 0; index < driver->devices(); ++index) {
    auto device = driver->device(index);
    if (!device) {
      report("device", device.error());
      continue;
    }
    fmt::print("GPU {}: {} at {}\n", index, device.value().name, device.value().pci_bus_id);
    cudaSetDevice(index);
    check_gpu(driver, device.value());
  }
  return all_passed ? 0 : 1;
}
