// Memory of a GPU that the network card accesses directly. The processor must not access it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace dlcp::datapath {

struct GpuMemory {
  std::span<std::byte> bytes;
  // A dma-buf that contains the memory, and where. The caller may close the descriptor after the
  // registration. -1: the kernel finds the memory by its address (nvidia-peermem).
  int dma_buf = -1;
  std::uint64_t offset = 0;
};

// The kinds of GPU memory that a device can access.
struct GpuAccess {
  bool dma_buf = false;
  bool peer_memory = false;  // by its address, through nvidia-peermem
};

}  // namespace dlcp::datapath
