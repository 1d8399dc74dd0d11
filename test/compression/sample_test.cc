// The result of a sample of bytes whose format is unknown.
#include "compression/sample.h"

#include "catch.h"
#include "compression/gradients.h"
#include "compression/packet_code.h"

using namespace dlcp;
using namespace dlcp::compression;

TEST_CASE("a sample finds the format, and approximately the ratio", "[compression]") {
  struct Row {
    Format format;
    test::Gradients what;
  };
  const Row rows[] = {{Format::kBfloat16, {}},
                      {Format::kFloat16, {}},
                      {Format::kFloat32, {}},
                      {Format::kFloat32, {.autocast = true}},
                      {Format::kFloat32, {.workers = 4, .autocast = true}}};
  for (const Row& row : rows) {
    for (const std::size_t count : {2048, 40000, 400000}) {
      const auto message = test::gradients(row.format, count, 17, row.what);
      std::vector<std::byte> out(encoded_bytes_max(row.format, message.size()));
      const auto packet = encode(row.format, message, out.size(), 1, out);
      const double ratio = static_cast<double>(packet.taken) / static_cast<double>(packet.written);
      const Sample found = sample(message, std::nullopt);
      INFO(name_of(row.format) << ", sum of " << row.what.workers << ", " << count);
      CHECK(found.format == row.format);
      CHECK(found.ratio == Approx(ratio).epsilon(0.1));
      CHECK(sample(message, row.format).ratio == found.ratio);
    }
  }
}

TEST_CASE("a sample of incompressible bytes has ratio 1", "[compression]") {
  Rng rng(1);
  std::vector<std::byte> message(100'000);
  for (auto& byte : message)
    byte = static_cast<std::byte>(rng.below(256));
  CHECK(sample(message, std::nullopt).ratio == 1);
  CHECK(sample(message, Format::kBfloat16).ratio == 1);
  CHECK(sample({}, std::nullopt).ratio == 1);
  CHECK(sample(std::span(message).first(3), std::nullopt).ratio == 1);
}

TEST_CASE("a sample of zeros has a large ratio and no type", "[compression]") {
  const std::vector<std::byte> message(100'000);
  CHECK(sample(message, std::nullopt).ratio > 100);
  CHECK_FALSE(sample(message, std::nullopt).typed);
}

TEST_CASE("the format of a mostly zero message is that of its numbers", "[compression]") {
  constexpr std::size_t kRow = 2048;
  constexpr std::size_t kRows = 512;
  for (const Format format : {Format::kBfloat16, Format::kFloat32}) {
    const auto numbers = test::gradients(format, kRow * kRows / element_bytes(format), 3, {});
    for (std::size_t first = 1; first < 20; ++first) {
      std::vector<std::byte> message(kRow * kRows);  // one row in 20 is not zero
      for (std::size_t row = first; row < kRows; row += 20)
        std::copy_n(&numbers[row * kRow], kRow, &message[row * kRow]);
      const Sample found = sample(message, std::nullopt);
      INFO(name_of(format) << ", the first row is " << first);
      CHECK(found.typed);
      CHECK(found.format == format);
      CHECK(found.ratio > 4);
    }
  }
}
