// A kernel is a host function, registered under the address of the symbol that the library passes
// at launch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "stream.h"

namespace softcuda {

// `arguments`: the packed parameters of the launch, in memory that the launch owns.
using Kernel = void (*)(const void* arguments);

struct Launch {
  const void* symbol = nullptr;
  void** parameters = nullptr;   // one pointer per parameter; only the first is passed on
  const void* packed = nullptr;  // or all in one piece
  std::size_t packed_bytes = 0;
  std::shared_ptr<Mark> started;  // passed when the kernel begins; may be null
};

cudaError_t launch(const Launch& launch, cudaStream_t stream);

}  // namespace softcuda

// `parameter_bytes`: the size of the first parameter, for launches that pass pointers.
extern "C" void softcuda_register_kernel(const void* symbol, std::size_t parameter_bytes,
                                         softcuda::Kernel kernel);
