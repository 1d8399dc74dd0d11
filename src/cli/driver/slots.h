// The buffer of one connection: slots as NCCL has them, reused in turn and registered once. Behind
// each slot lies a guard that a plugin must not touch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cli/plugin/registrar.h"

namespace dlcp::cli {

class Slots {
 public:
  Slots(Registrar& plugin, void* comm, std::size_t count, std::size_t slot_bytes);
  ~Slots();
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  std::size_t count() const { return count_; }
  std::byte* at(std::uint64_t message) { return memory_.get() + (message % count_) * stride_; }
  void* mhandle() const { return mhandle_; }
  // Number of bytes overwritten in the guard behind this message's slot.
  std::uint64_t check_guard(std::uint64_t message) const;

  // Deregisters and frees the memory before the connection is closed, as NCCL does on abort.
  void release();

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  Registrar& plugin_;
  void* comm_;
  std::size_t count_;
  std::size_t slot_bytes_;
  std::size_t stride_;
  std::unique_ptr<std::byte[], Free> memory_;
  void* mhandle_ = nullptr;
};

}  // namespace dlcp::cli
