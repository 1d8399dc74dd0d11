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
  // False for a number that has come before, or is too far behind to tell.
  bool accept(std::uint64_t number) {
    const std::uint64_t word = number / 64;
    if (number >= next_) {
      if (number - next_ >= std::uint64_t{1} << 62) return false;  // before 0
      if (word - newest_word_ >= kWords) {
        words_ = {};
        newest_word_ = word;
      }
      while (newest_word_ < word)
        words_[++newest_word_ % kWords] = 0;
      next_ = number + 1;
    } else if (word + kWords <= newest_word_) {
      return false;
    }
    std::uint64_t& seen = words_[word % kWords];
    const std::uint64_t bit = std::uint64_t{1} << (number % 64);
    const bool fresh = (seen & bit) == 0;
    seen |= bit;
    return fresh;
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
