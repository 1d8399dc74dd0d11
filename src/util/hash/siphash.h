// SipHash (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012): a keyed hash of 64
// bits that cannot be predicted or forged without the key. SipHash-1-3 is used for tags on packets,
// the more conservative SipHash-2-4 for values that are drawn or derived once.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace dlcp {

struct SipKey {
  std::uint64_t low = 0;  // bytes 0..7 of the key, little-endian
  std::uint64_t high = 0;

  friend bool operator==(const SipKey&, const SipKey&) = default;
};

// The state of the algorithm, for 64-bit words or for vectors of them (siphash_lanes.h), which hash
// several messages at once. Vectors are passed by reference: by value, the calling convention would
// depend on the processor's extensions.
template <class Word, int kCompressionRounds, int kFinalRounds>
class SipState {
 public:
  explicit SipState(const SipKey& key)
      : v0_(Word{} + (key.low ^ 0x736f6d6570736575u)),
        v1_(Word{} + (key.high ^ 0x646f72616e646f6du)),
        v2_(Word{} + (key.low ^ 0x6c7967656e657261u)),
        v3_(Word{} + (key.high ^ 0x7465646279746573u)) {}

  // Adds eight bytes of the message, little-endian.
  [[gnu::always_inline]] void add(const Word& word) {
    v3_ ^= word;
    for (int i = 0; i < kCompressionRounds; ++i)
      round();
    v0_ ^= word;
  }
  // The hash; valid as long as this object.
  [[gnu::always_inline]] const Word& finish() {
    v2_ ^= 0xffu;
    for (int i = 0; i < kFinalRounds; ++i)
      round();
    v0_ ^= v1_ ^ v2_ ^ v3_;
    return v0_;
  }

 private:
  template <int kBits>
  [[gnu::always_inline]] static void rotate(Word& word) {
    word = word << kBits | word >> (64 - kBits);
  }
  [[gnu::always_inline]] void round() {
    v0_ += v1_;
    rotate<13>(v1_);
    v1_ ^= v0_;
    rotate<32>(v0_);
    v2_ += v3_;
    rotate<16>(v3_);
    v3_ ^= v2_;
    v0_ += v3_;
    rotate<21>(v3_);
    v3_ ^= v0_;
    v2_ += v1_;
    rotate<17>(v1_);
    v1_ ^= v2_;
    rotate<32>(v2_);
  }

  Word v0_, v1_, v2_, v3_;
};

template <int kCompressionRounds, int kFinalRounds>
class SipHash {
 public:
  explicit SipHash(const SipKey& key) : state_(key) {}

  // Adds eight bytes of the message, little-endian.
  void add(std::uint64_t word) { state_.add(word); }
  // Adds the last bytes of a message: whole words, then the rest, with the length in the last byte.
  void add_last(std::span<const std::byte> bytes) {
    const std::byte* at = bytes.data();
    const std::byte* const end = at + bytes.size() / 8 * 8;
    for (; at != end; at += 8)
      add(load(at, 8));
    add(load(at, bytes.size() % 8) | static_cast<std::uint64_t>(bytes.size()) << 56);
  }
  std::uint64_t finish() { return state_.finish(); }

 private:
  static std::uint64_t load(const std::byte* at, std::size_t size) {
    std::uint64_t word = 0;
    if constexpr (std::endian::native == std::endian::little) {
      if (size != 0) std::memcpy(&word, at, size);
    } else {
      for (std::size_t i = 0; i < size; ++i)
        word |= std::to_integer<std::uint64_t>(at[i]) << (8 * i);
    }
    return word;
  }

  SipState<std::uint64_t, kCompressionRounds, kFinalRounds> state_;
};

template <int kCompressionRounds, int kFinalRounds>
std::uint64_t siphash(const SipKey& key, std::span<const std::byte> message) {
  SipHash<kCompressionRounds, kFinalRounds> hash(key);
  hash.add_last(message);
  return hash.finish();
}

inline std::uint64_t siphash13(const SipKey& key, std::span<const std::byte> message) {
  return siphash<1, 3>(key, message);
}
inline std::uint64_t siphash24(const SipKey& key, std::span<const std::byte> message) {
  return siphash<2, 4>(key, message);
}

}  // namespace dlcp
