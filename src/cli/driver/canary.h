// Watches receive buffers whose data has been used: they are filled with a constant, which nothing
// may change until the buffer is posted again. So a plugin or a network card that writes to a
// buffer after its receive was done is noticed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cli/driver/slots.h"

namespace dlcp::cli {

class Canary {
 public:
  // Watches the first `bytes` of each slot.
  Canary(Slots& slots, std::size_t bytes) : slots_(slots), bytes_(bytes) {}

  // The data of the next message is not needed any more.
  void fill_next() { fill(filled_++); }

  // Checks the slot of this message before it is posted, once if posting is tried again.
  void check_before(std::uint64_t message) {
    if (message < checked_) return;
    checked_ = message + 1;
    if (message >= slots_.count()) check(message);
  }
  // Checks all slots, none of which is posted.
  void check_all() {
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(filled_, slots_.count()); ++i)
      check(i);
  }
  std::uint64_t changed_bytes() const { return changed_; }

 private:
  static constexpr std::byte kValue{0xee};

  void fill(std::uint64_t message) {
    std::memset(slots_.at(message), static_cast<int>(kValue), bytes_);
  }
  void check(std::uint64_t message) {
    const std::byte* slot = slots_.at(message);
    if (slot[0] == kValue && std::memcmp(slot, slot + 1, bytes_ - 1) == 0) return;
    changed_ += bytes_ - static_cast<std::uint64_t>(std::count(slot, slot + bytes_, kValue));
    fill(message);  // so that each change counts once
  }

  Slots& slots_;
  std::size_t bytes_;
  std::uint64_t filled_ = 0;
  std::uint64_t checked_ = 0;
  std::uint64_t changed_ = 0;
};

}  // namespace dlcp::cli
