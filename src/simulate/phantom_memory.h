// Memory of messages that nobody fills or looks at: all hosts of a simulation take pieces of the
// same zeros, each its own pieces in turn, so that those of messages under way at one host are
// apart.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

namespace dlcp::simulate {

inline constexpr std::size_t kPhantomBytes = std::size_t{1} << 28;
inline constexpr std::size_t kPhantomBlock = 4096;  // what a packet of full size carries

class PhantomMemory {
 public:
  // calloc leaves pages untouched that are zero anyway.
  PhantomMemory() : bytes_(static_cast<std::byte*>(std::calloc(kPhantomBytes, 1)), std::free) {
    if (bytes_ == nullptr) throw std::bad_alloc();
  }
  std::span<std::byte> all() { return {bytes_.get(), kPhantomBytes}; }

  // Hands out pieces in turn; at most half of it may be under way at once.
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
