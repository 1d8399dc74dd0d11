// Buckets for values of any size, each 1 / 2^kSubBits of its value wide: every power of two has
// 2^kSubBits buckets, and smaller values have one bucket each.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace dlcp {

template <unsigned kSubBits>
struct LogBuckets {
  static constexpr std::uint64_t kSub = std::uint64_t{1} << kSubBits;
  // Number of buckets for the values below 2^bits.
  static constexpr std::size_t count(unsigned bits) {
    return static_cast<std::size_t>(bits - kSubBits + 1) << kSubBits;
  }

  static constexpr std::size_t index(std::uint64_t value) {
    if (value < kSub) return value;
    const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - 1 - kSubBits;
    return (static_cast<std::size_t>(shift + 1) << kSubBits) + ((value >> shift) - kSub);
  }
  // The largest value in the bucket.
  static constexpr std::uint64_t last(std::size_t bucket) {
    if (bucket < kSub) return bucket;
    const std::size_t shift = (bucket >> kSubBits) - 1;
    return (((bucket & (kSub - 1)) + kSub + 1) << shift) - 1;
  }
};

}  // namespace dlcp
