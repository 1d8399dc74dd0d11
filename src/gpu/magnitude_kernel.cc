#include "gpu/magnitude_kernel.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "gradient/magnitude_lanes.h"

namespace dlcp::gpu {
namespace {

using gradient::ElementType;

constexpr std::uint32_t kThreads = gradient::kPacketsPerBlock * gradient::kSums;

}  // namespace

MagnitudeKernel::MagnitudeKernel(std::shared_ptr<const CudaDriver> driver)
    : driver_(std::move(driver)) {}

MagnitudeKernel::~MagnitudeKernel() {
  if (module_ != nullptr) driver_->unload_module(module_);
}

Result<std::unique_ptr<MagnitudeKernel>> MagnitudeKernel::load(
    std::shared_ptr<const CudaDriver> driver) {
  if (magnitude_image().empty()) {
    return Error{ErrorCode::kInvalidUsage, "this build has no GPU kernels",
                 "build with nvcc of CUDA 12 or newer"};
  }
  std::unique_ptr<MagnitudeKernel> kernel(new MagnitudeKernel(std::move(driver)));
  auto module = kernel->driver_->load_module(magnitude_image());
  if (!module) return module.error();
  kernel->module_ = module.value();
  for (const auto& [name, function] : {std::pair("dlcp_means_of_float32", &kernel->float32_),
                                       std::pair("dlcp_means_of_float16", &kernel->float16_),
                                       std::pair("dlcp_means_of_bfloat16", &kernel->bfloat16_)}) {
    auto found = kernel->driver_->function(kernel->module_, name);
    if (!found) return found.error();
    *function = found.value();
  }
  return kernel;
}

Status MagnitudeKernel::start(ElementType type, std::span<const std::byte> message,
                              std::uint32_t packet_bytes, float* means) const {
  const std::size_t size = gradient::element_bytes(type);
  if (size == 0 || packet_bytes == 0 || packet_bytes % size != 0 ||
      reinterpret_cast<std::uintptr_t>(message.data()) % size != 0) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("packets of {} bytes do not consist of aligned elements of {} bytes",
                             packet_bytes, size),
                 ""};
  }
  if (message.empty()) return Unit{};
  gradient::CutMessage cut{message.data(), message.size(), packet_bytes};
  std::array<void*, 2> arguments{&cut, &means};
  const std::uint64_t blocks =
      (cut.packets() + gradient::kPacketsPerBlock - 1) / gradient::kPacketsPerBlock;
  void* const function = type == ElementType::kFloat32   ? float32_
                         : type == ElementType::kFloat16 ? float16_
                                                         : bfloat16_;
  return driver_->launch(function, static_cast<std::uint32_t>(blocks), kThreads, arguments);
}

}  // namespace dlcp::gpu
