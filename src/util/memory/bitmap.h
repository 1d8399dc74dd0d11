// A bitmap of 64-bit words that can be searched and merged a word at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "util/check.h"

namespace dlcp {

class Bitmap {
 public:
  static constexpr std::size_t kWordBits = 64;

  // Clears all bits; the memory is kept when the bitmap shrinks.
  void reset(std::size_t bits) {
    bits_ = bits;
    words_.assign((bits + kWordBits - 1) / kWordBits, 0);
  }

  std::size_t size() const { return bits_; }
  std::size_t word_count() const { return words_.size(); }
  std::uint64_t word(std::size_t index) const { return words_[index]; }

  // The kWordBits bits from `bit` on; bits beyond the end are clear.
  std::uint64_t bits_from(std::size_t bit) const {
    const std::size_t index = word_of(bit);
    const std::size_t shift = bit % kWordBits;
    std::uint64_t bits = words_[index] >> shift;
    if (shift != 0 && index + 1 < words_.size()) bits |= words_[index + 1] << (kWordBits - shift);
    return bits;
  }

  bool test(std::size_t bit) const { return (words_[word_of(bit)] >> (bit % kWordBits)) & 1; }

  // True if the bit was clear before.
  bool set(std::size_t bit) {
    std::uint64_t& word = words_[word_of(bit)];
    const std::uint64_t mask = std::uint64_t{1} << (bit % kWordBits);
    const bool fresh = (word & mask) == 0;
    word |= mask;
    return fresh;
  }

  // Sets `count` bits from `begin` on if all of them exist and are clear; otherwise changes nothing
  // and returns false.
  bool set_run(std::size_t begin, std::size_t count) {
    const std::size_t end = begin + count;
    if (end > bits_ || next_set(begin, end) < end) return false;
    for (std::size_t bit = begin; bit < end;) {
      const std::size_t in_word = std::min(kWordBits - bit % kWordBits, end - bit);
      words_[bit / kWordBits] |= (~std::uint64_t{0} >> (kWordBits - in_word)) << (bit % kWordBits);
      bit += in_word;
    }
    return true;
  }

  void clear(std::size_t bit) { words_[word_of(bit)] &= ~(std::uint64_t{1} << (bit % kWordBits)); }

  // Sets those bits of `mask` in word `index` that exist; returns the ones that were clear.
  std::uint64_t merge(std::size_t index, std::uint64_t mask) {
    check(index < words_.size(), "a word of a bitmap is one of its words");
    const std::size_t valid = bits_ - index * kWordBits;
    if (valid < kWordBits) mask &= (std::uint64_t{1} << valid) - 1;
    const std::uint64_t fresh = mask & ~words_[index];
    words_[index] |= mask;
    return fresh;
  }

  void clear_mask(std::size_t index, std::uint64_t mask) { words_[index] &= ~mask; }

  // First set (or clear) bit at or after `from`; size() if there is none.
  std::size_t next_set(std::size_t from) const { return next(from, words_.size(), 0); }
  std::size_t next_clear(std::size_t from) const {
    return next(from, words_.size(), ~std::uint64_t{0});
  }
  // First set bit at or after `from` if it is below `end`; else any number from `end` on.
  std::size_t next_set(std::size_t from, std::size_t end) const {
    return next(from, std::min(words_.size(), (end + kWordBits - 1) / kWordBits), 0);
  }

 private:
  std::size_t word_of(std::size_t bit) const {
    check(bit < bits_, "a bit of a bitmap is one of its bits");
    return bit / kWordBits;
  }
  std::size_t next(std::size_t from, std::size_t word_end, std::uint64_t invert) const {
    for (std::size_t index = from / kWordBits; index < word_end; ++index) {
      std::uint64_t word = words_[index] ^ invert;
      if (index == from / kWordBits) word &= ~std::uint64_t{0} << (from % kWordBits);
      if (word != 0) {
        const std::size_t bit =
            index * kWordBits + static_cast<std::size_t>(std::countr_zero(word));
        return bit < bits_ ? bit : bits_;
      }
    }
    return bits_;
  }

  std::vector<std::uint64_t> words_;
  std::size_t bits_ = 0;
};

}  // namespace dlcp
