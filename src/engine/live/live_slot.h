// One row in shared memory with one writer and any number of readers in other processes: a sequence
// lock (Lameter 2005) over words that are individually atomic. A reader that finds a partly written
// row reads again; the writer never waits.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>

namespace dlcp::engine {

// Text of at most N - 1 bytes; longer text is truncated.
template <std::size_t N>
struct LiveText {
  std::array<char, N> bytes{};

  void operator=(std::string_view text) {
    bytes.fill('\0');
    std::copy_n(text.data(), std::min(text.size(), N - 1), bytes.data());
  }
  std::string_view view() const { return {bytes.data(), strnlen(bytes.data(), N - 1)}; }
};

template <class Row>
class LiveSlot {
 public:
  static_assert(std::is_trivially_copyable_v<Row> && sizeof(Row) % 8 == 0);

  // Only one thread may write at a time.
  void write(const Row& row) {
    std::uint64_t before = sequence_.load(std::memory_order_relaxed);
    if (before == 0) before = words_[0].load(std::memory_order_relaxed);
    sequence_.store(before | 1, std::memory_order_relaxed);
    const auto* from = reinterpret_cast<const std::byte*>(&row);
    for (std::size_t i = 0; i < kWords; ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, from + 8 * i, 8);
      words_[i].store(word, std::memory_order_release);
    }
    sequence_.store((before | 1) + 1, std::memory_order_release);
  }
  // Keeps the sequence number in the first word, which is unused now: if the next row got a number
  // that an earlier one had, a reader could take parts of both for one row.
  void clear() {
    const std::uint64_t before = sequence_.load(std::memory_order_relaxed);
    if (before == 0) return;
    sequence_.store(before | 1, std::memory_order_relaxed);
    words_[0].store(before, std::memory_order_release);
    sequence_.store(0, std::memory_order_release);
  }

  // nullopt if the slot is empty, or if no consistent read was possible (the writer died while
  // writing).
  std::optional<Row> read() const {
    for (int attempt = 0; attempt < 1000; ++attempt) {
      const std::uint64_t before = sequence_.load(std::memory_order_acquire);
      if (before == 0) return std::nullopt;
      if (before % 2 != 0) continue;  // a copy of a row that is being written would be useless
      Row row;
      auto* to = reinterpret_cast<std::byte*>(&row);
      for (std::size_t i = 0; i < kWords; ++i) {
        const std::uint64_t word = words_[i].load(std::memory_order_acquire);
        std::memcpy(to + 8 * i, &word, 8);
      }
      if (sequence_.load(std::memory_order_relaxed) == before) return row;
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kWords = sizeof(Row) / 8;
  std::atomic<std::uint64_t> sequence_;  // 0: empty; odd: being written
  std::array<std::atomic<std::uint64_t>, kWords> words_;
};

}  // namespace dlcp::engine
