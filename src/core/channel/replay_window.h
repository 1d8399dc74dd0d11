// The numbers of a sequence that have been received, so that each counts once (as in IPsec, RFC
// 4303, section 3.4.3). Packets carry the low 32 bits of a number; here numbers have 64 bits.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "wire/serial.h"

namespace dlcp::core {

class ReplayWindow {
 public:
  // How far a number may be behind the newest: more than a network reorders within one path.
  static constexpr std::uint64_t kReach = 960;

  // The 64-bit number with the low 32 bits `low` that is nearest to the newest.
  std::uint64_t expand(std::uint32_t low) const { return wire::expand_serial(low, next_); }
  // True if the number has been received, or is too far behind to tell.
  bool has(std::uint64_t number) const {
    if (number >= next_) return number - next_ >= std::uint64_t{1} << 62;  // below 0
    const std::uint64_t word = number / 64;
    return word + kWords <= newest_word_ || ((words_[word % kWords] >> (number % 64)) & 1) != 0;
  }
  // Records the number as received; false if it was before.
  bool accept(std::uint64_t number) {
    if (has(number)) return false;
    const std::uint64_t word = number / 64;
    if (number >= next_) {
      if (word - newest_word_ >= kWords) {
        words_ = {};
        newest_word_ = word;
      }
      while (newest_word_ < word)
        words_[++newest_word_ % kWords] = 0;
      next_ = number + 1;
    }
    words_[word % kWords] |= std::uint64_t{1} << (number % 64);
    return true;
  }
  // Records `count` numbers from `first` on, which is newer than all so far.
  void accept_run(std::uint64_t first, std::size_t count) {
    for (std::size_t i = 0; i < count;) {
      accept(first + i);  // makes its word current
      const std::uint64_t bit = (first + i) % 64;
      const std::size_t in_word = std::min<std::size_t>(64 - bit, count - i);
      words_[(first + i) / 64 % kWords] |= (~std::uint64_t{0} >> (64 - in_word)) << bit;
      i += in_word;
    }
    next_ = first + count;
  }
  // The newest number plus one.
  std::uint64_t next() const { return next_; }

 private:
  static constexpr std::size_t kWords = kReach / 64 + 1;

  std::uint64_t next_ = 0;
  std::uint64_t newest_word_ = 0;
  std::array<std::uint64_t, kWords> words_{};
};

}  // namespace dlcp::core
