#include "memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <mutex>

#include "error.h"

namespace softcuda {
namespace {

std::mutex lock;
std::map<std::uintptr_t, Allocation> allocations;  // by base

void remember(const Allocation& allocation) {
  const std::lock_guard guard(lock);
  allocations[allocation.base] = allocation;
}

}  // namespace

cudaError_t allocate(void** out, std::size_t bytes, int device) {
  *out = nullptr;
  if (bytes == 0) return cudaSuccess;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t mapped = (bytes + page - 1) / page * page;
  void* const memory =
      mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return failed(cudaErrorMemoryAllocation);
  remember({reinterpret_cast<std::uintptr_t>(memory), mapped, device, false});
  *out = memory;
  return cudaSuccess;
}

cudaError_t adopt(void* memory, std::size_t bytes) {
  remember({reinterpret_cast<std::uintptr_t>(memory), bytes, kHost, true});
  return cudaSuccess;
}

cudaError_t release(void* memory) {
  if (memory == nullptr) return cudaSuccess;
  Allocation allocation;
  {
    const std::lock_guard guard(lock);
    const auto found = allocations.find(reinterpret_cast<std::uintptr_t>(memory));
    if (found == allocations.end()) return failed(cudaErrorInvalidValue);
    allocation = found->second;
    allocations.erase(found);
  }
  if (!allocation.is_callers) munmap(memory, allocation.bytes);
  return cudaSuccess;
}

std::optional<Allocation> allocation_of(const void* memory) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const std::lock_guard guard(lock);
  const auto above = allocations.upper_bound(address);
  if (above == allocations.begin()) return std::nullopt;
  const Allocation& below = std::prev(above)->second;
  if (address - below.base >= below.bytes) return std::nullopt;
  return below;
}

}  // namespace softcuda
