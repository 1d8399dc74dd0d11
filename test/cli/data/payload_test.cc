#include "cli/data/payload.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "catch.h"

using dlcp::cli::Data;
using dlcp::cli::Payload;

namespace {

std::vector<std::byte> message(const Payload& payload, std::size_t size, std::uint64_t number) {
  std::vector<std::byte> bytes(size + 1);
  payload.fill(bytes.data());
  payload.mark(bytes.data(), number);
  bytes.resize(size);
  return bytes;
}

}  // namespace

TEST_CASE("a message's content depends on its number, in any size and in any pieces") {
  for (const Data data : {Data::kRandom, Data::kBf16, Data::kF32, Data::kAmp, Data::kRows}) {
    for (const std::size_t size : {1u, 7u, 8u, 64u, 511u, 4096u, 4099u, 100'003u}) {
      const Payload payload(42, size, data);
      const auto bytes = message(payload, size, 9);
      CHECK(payload.check(bytes.data(), 9, 0, size).bytes == 0);
      for (std::size_t from = 0; from < size; from += 1024)
        CHECK(payload.check(bytes.data(), 9, from, std::min(size, from + 1024)).bytes == 0);
    }
  }
}

TEST_CASE("one wrong byte is counted as one, wherever it is") {
  const std::size_t size = 10'000;
  for (const Data data : {Data::kRandom, Data::kAmp}) {
    const Payload payload(7, size, data);
    for (std::size_t at = 0; at < size; at += 13) {
      auto bytes = message(payload, size, 3);
      bytes[at] ^= std::byte{0x80};
      const auto wrong = payload.check(bytes.data(), 3, 0, size);
      CHECK(wrong.bytes == 1);
      CHECK(wrong.elements == 1);
    }
  }
}

TEST_CASE("numbers are approximately normally distributed, with another scale in each 64 KiB") {
  constexpr std::size_t kTensor = 64 * 1024;
  for (const Data data : {Data::kBf16, Data::kF32, Data::kAmp}) {
    const auto bytes = message(Payload(3, 16 * kTensor, data), 16 * kTensor, 5);
    const std::size_t width = data == Data::kBf16 ? 2 : 4;
    double smallest = 1, largest = 0;
    for (std::size_t tensor = 0; tensor < 16; tensor++) {
      double sum = 0, squares = 0;
      std::size_t within = 0;
      std::vector<double> values;
      for (std::size_t at = tensor * kTensor; at < (tensor + 1) * kTensor; at += width) {
        std::uint32_t bits = 0;
        std::memcpy(reinterpret_cast<std::byte*>(&bits) + 4 - width, &bytes[at], width);
        if (data == Data::kAmp) REQUIRE((bits & 0xffff) == 0);
        float value = 0;
        std::memcpy(&value, &bits, sizeof value);
        values.push_back(static_cast<double>(value));
        sum += values.back();
        squares += values.back() * values.back();
      }
      const double count = static_cast<double>(values.size());
      const double deviation = std::sqrt(squares / count);
      for (const double value : values)
        within += std::abs(value) < deviation ? 1 : 0;
      CHECK(std::abs(sum / count) < deviation * 0.05);
      CHECK(static_cast<double>(within) / count == Approx(0.67).margin(0.02));
      smallest = std::min(smallest, deviation);
      largest = std::max(largest, deviation);
    }
    CHECK(largest > 8 * smallest);
    CHECK(largest < 0.125);
  }
}

TEST_CASE(
    "a float's low bits are as random as the rest of its mantissa, so that they do not compress") {
  const auto bytes = message(Payload(3, 64 * 1024, Data::kF32), 64 * 1024, 5);
  for (std::size_t low = 0; low < 2; low++) {
    std::vector<int> counts(256);
    for (std::size_t at = low; at < bytes.size(); at += 4)
      counts[static_cast<std::size_t>(bytes[at])]++;
    const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
    CHECK(*least > 20);  // 64 are expected of each
    CHECK(*most < 120);
  }
}

TEST_CASE("in an embedding table one row in twenty is not zero") {
  constexpr std::size_t kRow = 2048;
  constexpr std::size_t kRows = 4096;
  for (const Data data : {Data::kRows, Data::kRowsBf16}) {
    const auto bytes = message(Payload(3, kRows * kRow, data), kRows * kRow, 5);
    std::size_t rows = 0;
    for (std::size_t at = 0; at < bytes.size(); at += kRow) {
      const std::size_t zeros = static_cast<std::size_t>(
          std::count(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                     bytes.begin() + static_cast<std::ptrdiff_t>(at + kRow), std::byte{0}));
      CHECK((zeros == kRow || zeros < kRow / 8));
      rows += zeros < kRow ? 1 : 0;
    }
    CHECK(rows > kRows / 20 - 50);
    CHECK(rows < kRows / 20 + 50);
  }
}

TEST_CASE("another message's bytes are detected in every block of 512") {
  const std::size_t size = 64 * 1024;
  const Payload payload(7, size);
  const auto old = message(payload, size, 3);
  for (std::size_t at = 0; at < size; at += 512) {
    auto bytes = message(payload, size, 4);
    std::copy_n(old.begin() + static_cast<std::ptrdiff_t>(at), 512,
                bytes.begin() + static_cast<std::ptrdiff_t>(at));
    CHECK(payload.check(bytes.data(), 4, 0, size).bytes > 0);
  }
}

TEST_CASE("swapped packets are detected almost byte for byte") {
  const std::size_t size = 64 * 1024;
  const Payload payload(7, size);
  auto bytes = message(payload, size, 4);
  std::swap_ranges(bytes.begin(), bytes.begin() + 1408, bytes.begin() + 2816);
  CHECK(payload.check(bytes.data(), 4, 0, size).bytes > 2 * 1300);
}

TEST_CASE("flows of other ranks, channels and seeds carry different bytes") {
  const std::size_t size = 4096;
  const Payload mine(dlcp::cli::flow_key(1, 0, 1, 0), size);
  for (const auto key : {dlcp::cli::flow_key(2, 0, 1, 0), dlcp::cli::flow_key(1, 1, 0, 0),
                         dlcp::cli::flow_key(1, 0, 2, 0), dlcp::cli::flow_key(1, 0, 1, 1)}) {
    const auto bytes = message(Payload(key, size), size, 0);
    CHECK(mine.check(bytes.data(), 0, 0, size).bytes > size * 9 / 10);
  }
}
