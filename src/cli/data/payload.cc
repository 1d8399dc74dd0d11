#include "cli/data/payload.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>

namespace dlcp::cli {

namespace {

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15u;
constexpr std::size_t kTensorWords = 8192;  // 64 KiB that share one scale
constexpr std::size_t kRowWords = 256;      // of an embedding table
constexpr std::size_t kZeroRows = 20;       // all but one in this many rows are zero
constexpr std::size_t kLl128Words = 15;     // data of a line
constexpr unsigned kQuantileBits = 12;

// The quantile of the normal distribution at probability `p`, by bisection.
double normal_quantile(double p) {
  double low = -8, high = 8;
  for (int i = 0; i < 50; i++) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::numbers::sqrt2) / 2 < p ? low : high) = middle;
  }
  return low;
}

// Sign, exponent and the upper 3 bits of the mantissa of 4096 equally likely numbers.
using Quantiles = std::array<std::uint32_t, std::size_t{1} << kQuantileBits>;
Quantiles make_quantiles() {
  Quantiles all;
  for (std::size_t i = 0; i < all.size(); i++) {
    const double p = (static_cast<double>(i) + 0.5) / static_cast<double>(all.size());
    all[i] = std::bit_cast<std::uint32_t>(static_cast<float>(normal_quantile(p))) & 0xfff0'0000u;
  }
  return all;
}

// Loads 8 bytes at once, as a GPU does. The plugin writes them with plain stores from another
// thread: NCCL's formats exist for exactly that.
std::uint64_t load(const std::byte* at, std::memory_order order = std::memory_order_relaxed) {
  return reinterpret_cast<const std::atomic<std::uint64_t>*>(at)->load(order);
}

std::uint64_t join(std::uint64_t data, std::uint32_t flag) {
  return (data & 0xffffffffu) | std::uint64_t{flag} << 32;
}

// Compares bytes [from, to) of a slot with `expected`, which starts at `from`.
Mismatch compare(const std::byte* slot, const void* expected, std::size_t from, std::size_t to) {
  Mismatch sum;
  const std::size_t bytes = to - from;
  // The compiler replaces the call by one comparison where the size, a mark's, is constant.
  if (bytes == 8 ? std::memcmp(slot + from, expected, 8) == 0
                 : std::memcmp(slot + from, expected, bytes) == 0)
    return sum;
  const auto* wanted = static_cast<const std::byte*>(expected);
  for (std::size_t at = from; at < to; at += 4) {
    std::uint64_t wrong = 0;
    for (std::size_t i = at; i < std::min(at + 4, to); i++)
      wrong += slot[i] != wanted[i - from];
    sum.bytes += wrong;
    sum.elements += wrong != 0;
  }
  return sum;
}

void compare_word(std::uint64_t seen, std::uint64_t expected, Mismatch& wrong) {
  if (seen != expected)
    wrong += compare(reinterpret_cast<const std::byte*>(&seen), &expected, 0, sizeof seen);
}

}  // namespace

// The upper 12 random bits choose the quantile, the others are the rest of the mantissa.
std::uint32_t normal_bits(std::uint32_t random, std::uint32_t shift) {
  static const Quantiles quantiles = make_quantiles();
  const std::uint32_t quantile = quantiles[random >> (32 - kQuantileBits)];
  return (quantile | (random & 0x000f'ffffu)) - (shift << 23);
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

const char* name_of(Data data) {
  constexpr const char* kNames[kDatas] = {"random", "bf16", "f32", "amp", "rows", "rows-bf16"};
  return kNames[static_cast<std::size_t>(data)];
}

const char* name_of(LineFlags flags) {
  constexpr const char* kNames[kLineFlags] = {"none", "ll", "ll128"};
  return kNames[static_cast<std::size_t>(flags)];
}

Payload::Payload(std::uint64_t key, std::size_t size, Data data, LineFlags flags)
    : key_(key), size_(size), data_(data), flags_(flags), stride_(size <= 4096 ? 8 : kBlock) {
  for (std::size_t tensor = 0; tensor <= size / 8 / kTensorWords; tensor++)
    shifts_.push_back(static_cast<std::uint32_t>(4 + (mix64(key ^ (tensor + 1) * kGolden) >> 60)));
  if (flags_ != LineFlags::kNone) return;  // every word of a line is a mark
  base_.resize((size + 7) / 8);
  for (std::size_t i = 0; i < base_.size(); i++)
    base_[i] = number_word(i, mix64(key_ + i * kGolden));
}

// Two or four numbers of the kind that `data_` names, made of random `bits`.
std::uint64_t Payload::number_word(std::size_t index, std::uint64_t bits) const {
  if (data_ == Data::kRandom) return bits;
  const bool rows = data_ == Data::kRows || data_ == Data::kRowsBf16;
  if (rows && mix64(key_ ^ (index / kRowWords + 1) * kGolden) % kZeroRows != 0) return 0;
  const auto number = [shift = shifts_[index / kTensorWords]](std::uint64_t random) {
    return std::uint64_t{normal_bits(static_cast<std::uint32_t>(random), shift)};
  };
  const std::uint64_t upper = number(bits >> 32) << 32 | number(bits);
  if (data_ == Data::kF32 || data_ == Data::kRows) return upper;
  constexpr std::uint64_t kUpperHalves = 0xffff'0000'ffff'0000u;  // a bf16 is half a float32
  if (data_ == Data::kAmp) return upper & kUpperHalves;
  const std::uint64_t lower = number(bits >> 16) >> 16 << 32 | number(bits << 16) >> 16;
  return (upper & kUpperHalves) | lower;
}

std::uint64_t Payload::marked_word(std::uint64_t message, std::size_t index) const {
  constexpr std::uint64_t kOdd = 0xd1342543de82ef95u;
  return number_word(index, mix64(key_ + (message + 1) * kOdd + index));
}

void Payload::fill(std::byte* slot) const {
  if (!base_.empty()) std::memcpy(slot, base_.data(), size_);
}

void Payload::mark(std::byte* slot, std::uint64_t message) const {
  if (flags_ != LineFlags::kNone) {
    for (std::size_t line = 0; line < lines(); line++)
      encode_line(slot + line * line_bytes(flags_), message, line);
    return;
  }
  for (std::size_t at = 0; at < size_; at += stride_) {
    const std::uint64_t value = marked_word(message, at / 8);
    std::memcpy(slot + at, &value, std::min<std::size_t>(8, size_ - at));
  }
}

Mismatch Payload::check(const std::byte* slot, std::uint64_t message, std::size_t from,
                        std::size_t to) const {
  Mismatch sum;
  for (std::size_t at = from; at < to; at += stride_) {
    const std::uint64_t mark = marked_word(message, at / 8);
    const std::size_t behind = std::min(at + 8, to);
    sum += compare(slot, &mark, at, behind);
    if (stride_ > 8)
      sum += compare(slot, base_.data() + at / 8 + 1, behind, std::min(at + stride_, to));
  }
  return sum;
}

void Payload::encode_line(std::byte* at, std::uint64_t message, std::size_t line) const {
  if (flags_ == LineFlags::kLl) {
    const auto flag = static_cast<std::uint32_t>(message + 1);
    const std::uint64_t data = marked_word(message, line);
    const std::uint64_t words[2] = {join(data, flag), join(data >> 32, flag)};
    std::memcpy(at, words, sizeof words);
    return;
  }
  std::uint64_t words[kLl128Words + 1];
  for (std::size_t i = 0; i < kLl128Words; i++)
    words[i] = marked_word(message, line * kLl128Words + i);
  words[kLl128Words] = message + 1;
  std::memcpy(at, words, sizeof words);
}

bool Payload::take(const std::byte* slot, std::uint64_t message, std::size_t line,
                   Mismatch& wrong) const {
  const std::byte* at = slot + line * line_bytes(flags_);
  if (flags_ == LineFlags::kLl) {
    const auto flag = static_cast<std::uint32_t>(message + 1);
    const std::uint64_t first = load(at);
    const std::uint64_t second = load(at + 8);
    if (first >> 32 != flag || second >> 32 != flag) return false;
    compare_word((first & 0xffffffffu) | second << 32, marked_word(message, line), wrong);
    return true;
  }
  if (load(at + kLl128Words * 8, std::memory_order_acquire) != message + 1) return false;
  for (std::size_t i = 0; i < kLl128Words; i++)
    compare_word(load(at + i * 8), marked_word(message, line * kLl128Words + i), wrong);
  return true;
}

}  // namespace dlcp::cli
