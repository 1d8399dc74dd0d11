// Message memory that is never written or read: all hosts of a simulation share the same zeros.
// Each host takes pieces in turn, so that the pieces of its messages in progress do not overlap.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

namespace dlcp::simulate {

inline constexpr std::size_t kPhantomBytes = std::size_t{1} << 28;
inline constexpr std::size_t kPhantomBlock = 4096;  // payload of a full packet

class PhantomMemory {
 public:
  // calloc does not touch pages that are zero already.
  PhantomMemory() : bytes_(static_cast<std::byte*>(std::calloc(kPhantomBytes, 1)), std::free) {
    if (bytes_ == nullptr) throw std::bad_alloc();
  }
  std::span<std::byte> all() { return {bytes_.get(), kPhantomBytes}; }

  // Returns pieces in turn; at most half of the memory may be in use at the same time.
  class Cursor {
   public:
    explicit Cursor(std::size_t first_block)
        : at_(first_block * kPhantomBlock % (kPhantomBytes / 2)) {}
    std::span<std::byte> take(PhantomMemory& memory, std::size_t bytes) {
      const std::size_t rounded = (bytes + kPhantomBlock - 1) / kPhantomBlock * kPhantomBlock;
      if (at_ + rounded > kPhantomBytes) at_ = 0;
      const auto piece = memory.all().subspan(at_, bytes);
      at_ += rounded;
      return piece;
    }

   private:
    std::size_t at_;
  };

 private:
  std::unique_ptr<std::byte, decltype(&std::free)> bytes_;
};

}  // namespace dlcp::simulate
