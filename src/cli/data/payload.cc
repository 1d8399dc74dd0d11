#include "cli/data/payload.h"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "collective/float_format.h"

namespace dlcp::cli {

namespace {

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15u;
constexpr std::size_t kTensorWords = 8192;  // of one scale: 64 KiB

// The sum of four uniform numbers, which is normal but for its tails: mean 0, variance 1. A
// fraction below fills the mantissa, so that it does not compress better than a real one.
double normal(std::uint64_t bits) {
  const std::uint64_t sum =
      (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
  const double fraction = static_cast<double>(mix64(bits) >> 11) * 0x1p-53;
  constexpr double kMean = 4 * 65536.0 / 2 - 1.5;
  constexpr double kDeviation = 65536 * 0.57735026918962576;  // sqrt(4 / 12)
  return (static_cast<double>(sum) + fraction - kMean) / kDeviation;
}

// From 2^-16 to 2^-4.
double scale_of(std::uint64_t key, std::size_t tensor) {
  const std::uint64_t bits = mix64(key ^ (tensor + 1) * kGolden);
  const double mantissa = 1 + static_cast<double>(bits & 0xffff) / 65536;
  return std::ldexp(mantissa, -5 - static_cast<int>((bits >> 32) % 12));
}

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

const char* name_of(Data data) {
  constexpr const char* kNames[kDatas] = {"random", "bf16", "f32", "amp"};
  return kNames[static_cast<std::size_t>(data)];
}

const char* name_of(LineFlags flags) {
  constexpr const char* kNames[kLineFlags] = {"none", "ll", "ll128"};
  return kNames[static_cast<std::size_t>(flags)];
}

std::uint64_t make_word(Data data, std::uint64_t key, std::size_t index, std::uint64_t bits) {
  if (data == Data::kRandom) return bits;
  const double scale = scale_of(key, index / kTensorWords);
  const unsigned width = data == Data::kBf16 ? 16 : 32;
  std::uint64_t word = 0;
  for (unsigned at = 0; at < 64; at += width) {
    const auto value = static_cast<float>(normal(mix64(bits + at * kGolden)) * scale);
    std::uint64_t number = std::bit_cast<std::uint32_t>(value);
    if (data != Data::kF32) number = collective::Bfloat::narrow(value);
    if (data == Data::kAmp) number <<= 16;
    word |= number << at;
  }
  return word;
}

Payload::Payload(std::uint64_t key, std::size_t size, Data data)
    : key_(key),
      size_(size),
      data_(data),
      stride_(size <= 4096 ? 8 : kBlock),
      base_((size + 7) / 8) {
  for (std::size_t i = 0; i < base_.size(); i++)
    base_[i] = make_word(data_, key_, i, mix64(key_ + i * kGolden));
}

std::uint64_t Payload::word(std::uint64_t message, std::size_t index) const {
  return make_word(data_, key_, index, mix64(key_ + (message + 1) * 0xd1342543de82ef95u + index));
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

LinePayload::LinePayload(std::uint64_t key, std::size_t size, LineFlags flags, Data data)
    : key_(key), size_(size), flags_(flags), data_(data) {}

std::uint64_t LinePayload::word(std::uint64_t message, std::size_t index) const {
  return make_word(data_, key_, index,
                   mix64(key_ + (message + 1) * 0xd1342543de82ef95u + index * 0x9e3779b97f4a7c15u));
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
