// What a message holds, byte by byte: a base that depends on the position (a multiply-xorshift of
// seed, flow and position), and marks that depend on the message too: one 8-byte word in every 512
// bytes, or every word of messages up to 4 KiB. Swapped packets, swapped messages and bytes left
// over from a slot's last use are all seen, while re-marking a slot costs about 1% of sending it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlcp::cli {

// splitmix64's finalizer (Steele, Lea, Flood 2014).
constexpr std::uint64_t mix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::uint64_t flow_key(std::uint64_t seed, int source, int destination, int channel);

struct Mismatch {
  std::uint64_t bytes = 0;
  std::uint64_t elements = 0;  // 4-byte words with a wrong byte in them
  Mismatch& operator+=(const Mismatch& other);
};

// Adds the differences of two ranges; for when they are known to differ.
Mismatch count_differences(const std::byte* seen, const std::byte* expected, std::size_t bytes);

class Payload {
 public:
  static constexpr std::size_t kBlock = 512;

  Payload(std::uint64_t key, std::size_t size);

  void fill(std::byte* slot) const;                         // once per slot
  void mark(std::byte* slot, std::uint64_t message) const;  // before each use of it
  // Compares [from, to) of a received message; `from` is a multiple of kBlock.
  Mismatch check(const std::byte* slot, std::uint64_t message, std::size_t from,
                 std::size_t to) const;

 private:
  std::uint64_t word(std::uint64_t message, std::size_t index) const;  // a marked word

  std::uint64_t key_;
  std::size_t size_;
  std::size_t stride_;  // bytes from mark to mark
  std::vector<std::uint64_t> base_;
};

}  // namespace dlcp::cli
