#include "kernel.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "error.h"

namespace softcuda {
namespace {

struct Registered {
  Kernel kernel = nullptr;
  std::size_t parameter_bytes = 0;
};

std::mutex lock;

std::unordered_map<const void*, Registered>& registered() {  // used by constructors of libraries
  static auto* const kernels = new std::unordered_map<const void*, Registered>;
  return *kernels;
}

constexpr std::size_t kAlignment = 64;

}  // namespace

cudaError_t launch(const Launch& launch, cudaStream_t stream) {
  Registered known;
  {
    const std::lock_guard guard(lock);
    const auto found = registered().find(launch.symbol);
    if (found == registered().end()) {
      Dl_info info;
      const bool named = dladdr(launch.symbol, &info) != 0 && info.dli_sname != nullptr;
      std::fprintf(stderr, "softcuda: kernel %s has no function on the host\n",
                   named ? info.dli_sname : "without a name");
      return failed(cudaErrorInvalidDeviceFunction);
    }
    known = found->second;
  }
  // Copied now, because the caller may reuse its memory when the launch returns.
  const void* const from = launch.packed != nullptr ? launch.packed : launch.parameters[0];
  const std::size_t bytes = launch.packed != nullptr ? launch.packed_bytes : known.parameter_bytes;
  const auto copy = std::make_shared<std::vector<std::byte>>(bytes + kAlignment);
  const auto address = reinterpret_cast<std::uintptr_t>(copy->data());
  std::byte* const arguments = copy->data() + (kAlignment - address % kAlignment) % kAlignment;
  std::memcpy(arguments, from, bytes);
  stream_of(stream).push([kernel = known.kernel, started = launch.started, copy, arguments] {
    if (started) started->pass();
    kernel(arguments);
  });
  return cudaSuccess;
}

}  // namespace softcuda

extern "C" __attribute__((visibility("default"))) void softcuda_register_kernel(
    const void* symbol, std::size_t parameter_bytes, softcuda::Kernel kernel) {
  const std::lock_guard guard(softcuda::lock);
  softcuda::registered()[symbol] = {kernel, parameter_bytes};
}
