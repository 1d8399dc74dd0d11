// The events of the next 16 us: a queue for each nanosecond, in a ring, and a bitmap of the queues
// that are not empty. Nearly all events of a data-centre simulation are in this range. They run in
// the order in which they were scheduled, at a cost that does not depend on their number (Varghese
// and Lauck, "Hashed and Hierarchical Timing Wheels", 1987).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace dlcp::datapath::sim {

// An Event has prefetch(), which is called when it becomes the next one of its nanosecond.
template <class Event>
class NearEvents {
 public:
  static constexpr std::int64_t kSpan = 1 << 14;  // ns; all events here are within this range

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  void push(std::int64_t at_ns, Event event) {
    const std::uint32_t node = take_node();
    nodes_[node] = {std::move(event), kNone};
    const std::size_t slot = slot_of(at_ns);
    Queue& queue = queues_[slot];
    if (queue.first == kNone) {
      queue.first = node;
      words_[slot / 64] |= bit(slot);
      summary_[slot / 64 / 64] |= bit(slot / 64);
    } else {
      nodes_[queue.last].next = node;
    }
    queue.last = node;
    ++size_;
  }

  // The time of the first event. There must be one, and none may be before `now_ns`.
  std::int64_t first_after(std::int64_t now_ns) const {
    const std::size_t from = slot_of(now_ns);
    std::size_t word = from / 64;
    std::uint64_t bits = words_[word] & from_bit(from);
    if (bits == 0) {
      word = next_word((word + 1) % kWords);
      bits = words_[word];
    }
    const std::size_t slot = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
    return now_ns + static_cast<std::int64_t>((slot - from) % kSlots);
  }

  // Removes the first event of this nanosecond, which must have one.
  Event pop(std::int64_t at_ns) {
    const std::size_t slot = slot_of(at_ns);
    Queue& queue = queues_[slot];
    const std::uint32_t node = queue.first;
    Event event = std::move(nodes_[node].event);
    queue.first = nodes_[node].next;
    if (queue.first == kNone) {
      words_[slot / 64] &= ~bit(slot);
      if (words_[slot / 64] == 0) summary_[slot / 64 / 64] &= ~bit(slot / 64);
    }
    if (queue.first != kNone) nodes_[queue.first].event.prefetch();
    nodes_[node].next = free_;
    free_ = node;
    --size_;
    return event;
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::size_t kSlots = kSpan;
  static constexpr std::size_t kWords = kSlots / 64;

  struct Queue {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
  };
  struct Node {
    Event event;
    std::uint32_t next = kNone;
  };

  static std::size_t slot_of(std::int64_t ns) { return static_cast<std::size_t>(ns) % kSlots; }
  static std::uint64_t bit(std::size_t place) { return std::uint64_t{1} << (place % 64); }
  static std::uint64_t from_bit(std::size_t place) { return ~std::uint64_t{0} << (place % 64); }

  // The first non-zero word from `from` on, around the ring.
  std::size_t next_word(std::size_t from) const {
    for (;;) {
      const std::uint64_t bits = summary_[from / 64] & from_bit(from);
      if (bits != 0) return from / 64 * 64 + static_cast<std::size_t>(std::countr_zero(bits));
      from = (from / 64 + 1) * 64 % kWords;
    }
  }

  std::uint32_t take_node() {
    if (free_ == kNone) {
      nodes_.emplace_back();
      return static_cast<std::uint32_t>(nodes_.size() - 1);
    }
    return std::exchange(free_, nodes_[free_].next);
  }

  std::size_t size_ = 0;
  std::vector<Node> nodes_;
  std::uint32_t free_ = kNone;
  std::array<std::uint64_t, kWords> words_{};
  std::array<std::uint64_t, kWords / 64> summary_{};
  std::vector<Queue> queues_ = std::vector<Queue>(kSlots);
};

}  // namespace dlcp::datapath::sim
