// GPU memory for tests over a fake card: a file that is mapped without any access, so that a test
// ends if the processor touches it. It begins at the second page of its dma-buf.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <span>
#include <vector>

#include "../../../catch.h"
#include "datapath/gpu_memory.h"
#include "util/system/fd.h"

namespace dlcp::datapath::test {

struct GpuBuffer {
  explicit GpuBuffer(std::size_t bytes) : size(bytes), file(memfd_create("gpu", MFD_CLOEXEC)) {
    REQUIRE(ftruncate(file.get(), static_cast<off_t>(size + kOffset)) == 0);
    at = static_cast<std::byte*>(mmap(nullptr, size, PROT_NONE, MAP_SHARED, file.get(), kOffset));
    REQUIRE(at != MAP_FAILED);
  }
  ~GpuBuffer() { munmap(at, size); }
  GpuBuffer(const GpuBuffer&) = delete;
  GpuBuffer& operator=(const GpuBuffer&) = delete;

  std::span<std::byte> bytes() const { return {at, size}; }
  GpuMemory as_dma_buf() const { return {bytes(), file.get(), kOffset}; }
  std::vector<std::byte> content(std::size_t offset, std::size_t count) const {
    std::vector<std::byte> copy(count);
    CHECK(pread(file.get(), copy.data(), count, static_cast<off_t>(kOffset + offset)) ==
          static_cast<ssize_t>(count));
    return copy;
  }
  void fill(std::span<const std::byte> with) {
    CHECK(pwrite(file.get(), with.data(), with.size(), kOffset) ==
          static_cast<ssize_t>(with.size()));
  }

  static constexpr std::size_t kOffset = 4096;
  const std::size_t size;
  Fd file;
  std::byte* at = nullptr;
};

}  // namespace dlcp::datapath::test
