#include "cli/driver/slots.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace dlcp::cli {

namespace {
constexpr std::size_t kGuard = 128;
constexpr std::byte kGuardByte{0xa5};
constexpr std::size_t kAlign = 4096;

std::size_t rounded_up(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}
}  // namespace

void Slots::Free::operator()(std::byte* p) const {
  std::free(p);
}

Slots::Slots(Registrar& plugin, void* comm, std::size_t count, std::size_t slot_bytes)
    : plugin_(plugin),
      comm_(comm),
      count_(count),
      slot_bytes_(slot_bytes),
      stride_(rounded_up(slot_bytes + kGuard, kGuard)) {
  const std::size_t bytes = rounded_up(count_ * stride_, kAlign);
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlign, bytes)));
  if (memory_ == nullptr) throw std::bad_alloc();
  std::memset(memory_.get(), 0, bytes);
  for (std::size_t i = 0; i < count_; i++)
    std::memset(at(i) + slot_bytes_, static_cast<int>(kGuardByte), stride_ - slot_bytes_);
  require(plugin_.reg_mr(comm_, memory_.get(), bytes, &mhandle_), "regMr");
}

Slots::~Slots() {
  if (memory_ != nullptr) plugin_.dereg_mr(comm_, mhandle_);
}

void Slots::release() {
  if (memory_ == nullptr) return;
  require(plugin_.dereg_mr(comm_, mhandle_), "deregMr");
  memory_.reset();
}

std::uint64_t Slots::check_guard(std::uint64_t message) const {
  const std::byte* guard = memory_.get() + (message % count_) * stride_ + slot_bytes_;
  return static_cast<std::uint64_t>(std::count_if(guard, guard + (stride_ - slot_bytes_),
                                                  [](std::byte b) { return b != kGuardByte; }));
}

}  // namespace dlcp::cli
