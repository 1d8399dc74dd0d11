// Big-endian numbers of one to four bytes, in what datapaths tell each other about themselves:
// addresses and queue pairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace dlcp::datapath {

// Writes from the beginning of `to`, which must be large enough.
class BlobWriter {
 public:
  explicit BlobWriter(std::span<std::byte> to) : to_(to) {}
  void put(std::uint32_t value, std::size_t bytes) {
    for (; bytes > 0; --bytes)
      to_[size_++] = static_cast<std::byte>(value >> (8 * (bytes - 1)) & 0xff);
  }
  std::size_t size() const { return size_; }

 private:
  std::span<std::byte> to_;
  std::size_t size_ = 0;
};

// After the end, all reads fail and return what could be read, with zeros behind it.
class BlobReader {
 public:
  explicit BlobReader(std::span<const std::byte> from) : left_(from) {}
  std::uint32_t get(std::size_t bytes) {
    std::uint32_t value = 0;
    for (; bytes > 0; --bytes) {
      ok_ = ok_ && !left_.empty();
      value = value << 8 | (ok_ ? std::to_integer<std::uint32_t>(left_[0]) : 0);
      left_ = left_.subspan(ok_ ? 1 : 0);
    }
    return value;
  }
  bool ok() const { return ok_; }
  bool done() const { return !ok_ || left_.empty(); }  // nothing more can be read

 private:
  std::span<const std::byte> left_;
  bool ok_ = true;
};

}  // namespace dlcp::datapath
