// Which numbers of a sequence have come, so that each counts once (as RFC 4303, section 3.4.3, does
// for IPsec). Numbers travel as their low 32 bits and are known by all 64 here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "wire/serial.h"

namespace dlcp::core {

class ReplayWindow {
 public:
  // How far a number may be behind the newest: more than a network reorders within one path.
  static constexpr std::uint64_t kReach = 960;

  // The number that `low` is the end of: the one nearest to the newest.
  std::uint64_t expand(std::uint32_t low) const { return wire::expand_serial(low, next_); }
  // The number has come before, or is too far behind to tell.
  bool has(std::uint64_t number) const {
    if (number >= next_) return number - next_ >= std::uint64_t{1} << 62;  // before 0
    const std::uint64_t word = number / 64;
    return word + kWords <= newest_word_ || ((words_[word % kWords] >> (number % 64)) & 1) != 0;
  }
  // From now on it has come; false if it had.
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
  // One more than the newest.
  std::uint64_t next() const { return next_; }

 private:
  static constexpr std::size_t kWords = kReach / 64 + 1;

  std::uint64_t next_ = 0;
  std::uint64_t newest_word_ = 0;
  std::array<std::uint64_t, kWords> words_{};
};

}  // namespace dlcp::core
