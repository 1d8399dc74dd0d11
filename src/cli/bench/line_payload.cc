#include "cli/bench/line_payload.h"

#include <sched.h>

#include <bit>
#include <cstring>

namespace dlcp::cli {
namespace {

// As a GPU loads: 8 bytes at a time, whole.
std::uint64_t load(const std::byte* at, std::memory_order order = std::memory_order_relaxed) {
  // The plugin stores there with plain stores, from another thread: that is the point of the
  // format.
  return reinterpret_cast<const std::atomic<std::uint64_t>*>(at)->load(order);
}

std::uint64_t join(std::uint32_t data, std::uint32_t flag) {
  return data | (std::uint64_t{flag} << 32);
}

}  // namespace

LinePayload::LinePayload(std::uint64_t key, std::size_t size, LineFlags flags)
    : key_(key), size_(size), flags_(flags) {}

std::uint64_t LinePayload::word(std::uint64_t message, std::size_t index) const {
  return mix64(key_ + (message + 1) * 0xd1342543de82ef95u + index * 0x9e3779b97f4a7c15u);
}

void LinePayload::encode(std::byte* slot, std::uint64_t message) const {
  const auto flag = static_cast<std::uint32_t>(message + 1);
  for (std::size_t line = 0; line < lines(); line++) {
    std::byte* at = slot + line * line_bytes();
    if (flags_ == LineFlags::kLl) {
      const std::uint64_t data = word(message, line);
      const std::uint64_t words[2] = {join(static_cast<std::uint32_t>(data), flag),
                                      join(static_cast<std::uint32_t>(data >> 32), flag)};
      std::memcpy(at, words, sizeof words);
    } else {
      std::uint64_t words[16];
      for (std::size_t i = 0; i < 15; i++)
        words[i] = word(message, line * 15 + i);
      words[15] = message + 1;
      std::memcpy(at, words, sizeof words);
    }
  }
}

bool LinePayload::take(const std::byte* slot, std::uint64_t message, std::size_t line,
                       Mismatch& wrong) const {
  const std::byte* at = slot + line * line_bytes();
  if (flags_ == LineFlags::kLl) {
    const auto flag = static_cast<std::uint32_t>(message + 1);
    const std::uint64_t first = load(at);
    const std::uint64_t second = load(at + 8);
    if (first >> 32 != flag || second >> 32 != flag) return false;
    const std::uint64_t data = word(message, line);
    const std::uint64_t seen = (first & 0xffffffffu) | (second << 32);
    if (seen != data)
      wrong += count_differences(reinterpret_cast<const std::byte*>(&seen),
                                 reinterpret_cast<const std::byte*>(&data), sizeof data);
    return true;
  }
  if (load(at + 120, std::memory_order_acquire) != message + 1) return false;
  for (std::size_t i = 0; i < 15; i++) {
    const std::uint64_t seen = load(at + i * 8);
    const std::uint64_t data = word(message, line * 15 + i);
    if (seen != data)
      wrong += count_differences(reinterpret_cast<const std::byte*>(&seen),
                                 reinterpret_cast<const std::byte*>(&data), sizeof data);
  }
  return true;
}

LinePollers::LinePollers(const LinePayload& payload, Slots& slots)
    : payload_(payload), slots_(slots), readers_(kThreads) {
  for (std::size_t i = 0; i < kThreads; i++)
    readers_[i].thread = std::thread([this, i] { read(i); });
}

LinePollers::~LinePollers() {
  stop_ = true;
  for (Reader& reader : readers_)
    reader.thread.join();
}

std::uint64_t LinePollers::consumed() const {
  std::uint64_t least = ~std::uint64_t{0};
  for (const Reader& reader : readers_)
    least = std::min(least, reader.consumed.load());
  return least;
}

Mismatch LinePollers::mismatch() const {
  Mismatch sum;
  for (const Reader& reader : readers_)
    sum += Mismatch{reader.wrong_bytes, reader.wrong_elements};
  return sum;
}

// Groups of 64 lines are dealt to the threads in turn; within them lines are taken in whatever
// order their flags appear.
bool LinePollers::read_message(std::size_t which, std::uint64_t message) {
  const std::size_t lines = payload_.lines();
  std::vector<std::uint64_t> waiting;
  for (std::size_t first = which * 64; first < lines; first += kThreads * 64) {
    const std::size_t n = std::min<std::size_t>(64, lines - first);
    waiting.push_back(n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1);
  }
  const std::byte* slot = slots_.at(message);
  std::size_t left = waiting.size();
  while (left > 0) {
    if (stop_) return false;
    Mismatch wrong;
    bool moved = false;
    left = 0;
    for (std::size_t group = 0; group < waiting.size(); group++) {
      const std::size_t first = (group * kThreads + which) * 64;
      for (std::uint64_t bits = waiting[group]; bits != 0; bits &= bits - 1) {
        const auto bit = static_cast<std::size_t>(std::countr_zero(bits));
        if (!payload_.take(slot, message, first + bit, wrong)) continue;
        waiting[group] &= ~(std::uint64_t{1} << bit);
        moved = true;
      }
      left += waiting[group] != 0;
    }
    readers_[which].wrong_bytes += wrong.bytes;
    readers_[which].wrong_elements += wrong.elements;
    if (!moved) sched_yield();
  }
  return true;
}

void LinePollers::read(std::size_t which) {
  for (std::uint64_t message = 0; read_message(which, message); message++)
    readers_[which].consumed.store(message + 1, std::memory_order_release);
}

}  // namespace dlcp::cli
