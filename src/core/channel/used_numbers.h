// The numbers of streams that have begun, so that each begins once. They arrive in any order: the
// HELLO of one stream may be lost while thousands of others arrive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>

namespace dlcp::core {

class UsedNumbers {
 public:
  // False if the number was used, or if it is so old that this is no longer known.
  bool use(std::uint64_t number) {
    if (known_from_ == 0) known_from_ = number;
    if (number < known_from_ || !used_.insert(number).second) return false;
    // A gap at the low end is given up if too many numbers above it are used: its stream was
    // abandoned before its HELLO arrived.
    if (used_.size() > kMost) known_from_ = *used_.begin();
    while (!used_.empty() && *used_.begin() == known_from_) {
      used_.erase(used_.begin());
      ++known_from_;
    }
    return true;
  }

 private:
  static constexpr std::size_t kMost = 65536;  // as many connections as one device may have

  std::uint64_t known_from_ = 0;  // 0: none so far; the stream that opens an association is first
  std::set<std::uint64_t> used_;  // of those from known_from_ on
};

}  // namespace dlcp::core
