// The magnitudes (gradient/magnitude.h) of all packets of a message in GPU memory, computed there.
// The kernel is part of the build if it found nvcc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "gpu/cuda_driver.h"
#include "gradient/magnitude.h"

namespace dlcp::gpu {

// The kernels for all supported GPUs (a fatbin); empty if the build had no nvcc.
std::span<const std::byte> magnitude_image();

class MagnitudeKernel {
 public:
  // Loads the kernels into the calling thread's context, in which they must be started.
  static Result<std::unique_ptr<MagnitudeKernel>> load(std::shared_ptr<const CudaDriver> driver);
  ~MagnitudeKernel();

  // Starts the computation on the default stream: means[i] becomes the mean_magnitude() of bytes
  // i * packet_bytes to (i + 1) * packet_bytes, bit for bit as computed by the portable form.
  // `means` is memory that the GPU can write, one element for each packet. Fails if the type is
  // kOther, or the message or packet_bytes do not consist of whole, aligned elements.
  Status start(gradient::ElementType type, std::span<const std::byte> message,
               std::uint32_t packet_bytes, float* means) const;

 private:
  explicit MagnitudeKernel(std::shared_ptr<const CudaDriver> driver);

  const std::shared_ptr<const CudaDriver> driver_;
  void* module_ = nullptr;
  void* float32_ = nullptr;
  void* float16_ = nullptr;
  void* bfloat16_ = nullptr;
};

}  // namespace dlcp::gpu
