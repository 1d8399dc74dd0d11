#include "cli/bench/payload.h"

#include <algorithm>
#include <cstring>

namespace dlcp::cli {

namespace {
constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15u;
}

std::uint64_t flow_key(std::uint64_t seed, int source, int destination, int channel) {
  std::uint64_t key = mix64(seed + kGolden);
  key = mix64(key + static_cast<std::uint64_t>(source) * kGolden + 1);
  key = mix64(key + static_cast<std::uint64_t>(destination) * kGolden + 2);
  return mix64(key + static_cast<std::uint64_t>(channel) * kGolden + 3);
}

Mismatch& Mismatch::operator+=(const Mismatch& other) {
  bytes += other.bytes;
  elements += other.elements;
  return *this;
}

Mismatch count_differences(const std::byte* seen, const std::byte* expected, std::size_t bytes) {
  Mismatch sum;
  for (std::size_t at = 0; at < bytes; at += 4) {
    std::uint64_t wrong = 0;
    for (std::size_t i = at; i < std::min(at + 4, bytes); i++)
      wrong += seen[i] != expected[i];
    sum.bytes += wrong;
    sum.elements += wrong != 0;
  }
  return sum;
}

Payload::Payload(std::uint64_t key, std::size_t size)
    : key_(key), size_(size), stride_(size <= 4096 ? 8 : kBlock), base_((size + 7) / 8) {
  for (std::size_t i = 0; i < base_.size(); i++)
    base_[i] = mix64(key_ + i * kGolden);
}

std::uint64_t Payload::word(std::uint64_t message, std::size_t index) const {
  return base_[index] ^ mix64(key_ + (message + 1) * 0xd1342543de82ef95u + index);
}

void Payload::fill(std::byte* slot) const {
  if (size_ > 0) std::memcpy(slot, base_.data(), size_);
}

void Payload::mark(std::byte* slot, std::uint64_t message) const {
  for (std::size_t at = 0; at < size_; at += stride_) {
    const std::uint64_t value = word(message, at / 8);
    std::memcpy(slot + at, &value, std::min<std::size_t>(8, size_ - at));
  }
}

Mismatch Payload::check(const std::byte* slot, std::uint64_t message, std::size_t from,
                        std::size_t to) const {
  Mismatch sum;
  const auto* base = reinterpret_cast<const std::byte*>(base_.data());
  for (std::size_t at = from; at < to; at += stride_) {
    const std::uint64_t value = word(message, at / 8);
    const auto* expected = reinterpret_cast<const std::byte*>(&value);
    const std::size_t marked = std::min<std::size_t>(8, to - at);
    const std::size_t rest = std::min(stride_, to - at) - marked;
    if (std::memcmp(slot + at, expected, marked) != 0)
      sum += count_differences(slot + at, expected, marked);
    if (rest > 0 && std::memcmp(slot + at + 8, base + at + 8, rest) != 0)
      sum += count_differences(slot + at + 8, base + at + 8, rest);
  }
  return sum;
}

}  // namespace dlcp::cli
