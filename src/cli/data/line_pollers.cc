#include "cli/data/line_pollers.h"

#include <sched.h>

#include <algorithm>
#include <bit>

namespace dlcp::cli {

LinePollers::LinePollers(const Payload& payload, Slots& slots)
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

// The threads take groups of 64 lines in turn. Within its groups a thread takes lines in whatever
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
