// The calls of the CUDA driver that DLCP uses. The library (libcuda.so.1) is loaded at run time, so
// that everything else works on hosts without it, and no CUDA headers are needed. Tests substitute
// functions of their own.
//
// Calls for memory, modules and kernels use the calling thread's current context, as NCCL's threads
// and users of the CUDA runtime have one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "util/result.h"
#include "util/system/fd.h"

namespace dlcp::gpu {

struct GpuDevice {
  std::string name;
  std::string pci_bus_id;        // "0000:1b:00.0", as in /sys/bus/pci/devices
  bool exports_dma_buf = false;  // network cards can use its memory without nvidia-peermem
};

// The allocation that contains a piece of GPU memory.
struct GpuAllocation {
  int device = 0;
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
};

struct DmaBuf {
  Fd descriptor;
  std::uint64_t offset = 0;  // of the exported memory in the buffer
};

class CudaDriver {
 public:
  // Finds a function of the driver; nullptr if it has none of that name.
  using LookUp = std::function<void*(const char* name)>;
  struct Functions;

  // The installed driver. Fails if there is none, or no GPU.
  static Result<std::unique_ptr<CudaDriver>> load();
  static Result<std::unique_ptr<CudaDriver>> open(const LookUp& look_up);
  ~CudaDriver();

  int devices() const { return devices_; }
  Result<GpuDevice> device(int index) const;

  // nullopt if `address` is not in GPU memory.
  Result<std::optional<GpuAllocation>> allocation_of(const void* address) const;
  // `memory` is part of one allocation. Whole pages of the host are exported.
  Result<DmaBuf> export_dma_buf(std::span<std::byte> memory) const;
  // The calls below only start the work on the default stream.
  Status fill(std::span<std::byte> memory, std::uint8_t value) const;
  Status wait() const;  // until all of it is done

  // Loads a cubin, PTX or fatbin into the current context.
  Result<void*> load_module(std::span<const std::byte> image) const;
  void unload_module(void* module) const;
  Result<void*> function(void* module, const char* name) const;
  // `arguments` are pointers to the kernel's arguments.
  Status launch(void* function, std::uint32_t blocks, std::uint32_t threads,
                std::span<void*> arguments) const;

 private:
  explicit CudaDriver(std::unique_ptr<Functions> functions);
  Error failed(const char* what, int result) const;

  const std::unique_ptr<Functions> f_;
  int devices_ = 0;
};

}  // namespace dlcp::gpu
