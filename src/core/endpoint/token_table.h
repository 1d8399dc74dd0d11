// Finds the slot of a token. Tokens are pseudorandom numbers that a peer cannot predict. They are
// used as their own hash, and a peer cannot make them collide.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace dlcp::core {

class TokenTable {
 public:
  std::optional<std::uint32_t> find(std::uint64_t token) const {
    if (token == 0 || entries_.empty()) return std::nullopt;
    for (std::size_t at = token & mask();; at = (at + 1) & mask()) {
      if (entries_[at].token == token) return entries_[at].slot;
      if (entries_[at].token == 0) return std::nullopt;
    }
  }
  // `token` is neither 0 nor in the table.
  void insert(std::uint64_t token, std::uint32_t slot) {
    if (2 * (size_ + 1) > entries_.size()) grow();
    ++size_;
    put({token, slot});
  }
  void erase(std::uint64_t token) {
    std::size_t at = token & mask();
    while (entries_[at].token != token)
      at = (at + 1) & mask();
    --size_;
    // Entries after the gap move into it, except those that find() would not find there.
    for (std::size_t next = (at + 1) & mask(); entries_[next].token != 0;
         next = (next + 1) & mask()) {
      const std::size_t home = entries_[next].token & mask();
      if (((next - home) & mask()) < ((next - at) & mask())) continue;
      entries_[at] = entries_[next];
      at = next;
    }
    entries_[at] = {};
  }

 private:
  struct Entry {
    std::uint64_t token = 0;  // 0: free
    std::uint32_t slot = 0;
  };

  std::size_t mask() const { return entries_.size() - 1; }
  void put(const Entry& entry) {
    std::size_t at = entry.token & mask();
    while (entries_[at].token != 0)
      at = (at + 1) & mask();
    entries_[at] = entry;
  }
  void grow() {
    std::vector<Entry> old(std::max<std::size_t>(2 * entries_.size(), 16));
    old.swap(entries_);
    for (const Entry& entry : old)
      if (entry.token != 0) put(entry);
  }

  std::vector<Entry> entries_;  // size: a power of two, at most half in use
  std::size_t size_ = 0;
};

}  // namespace dlcp::core
