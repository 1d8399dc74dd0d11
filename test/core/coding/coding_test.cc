// One packet of a compressed message, compressed and decompressed.
#include <algorithm>
#include <vector>

#include "catch.h"
#include "compression/samples.h"
#include "core/coding/coded_piece.h"
#include "util/rng.h"

using namespace dlcp;
using namespace dlcp::test;
using namespace dlcp::core;
using compression::Format;

namespace {

constexpr std::uint32_t kPayloadBytes = 1408;

}  // namespace

TEST_CASE("a message of gradients is cut into chunks that fill a packet after compression") {
  compression::Coder coder;
  const auto message = bf16(256 << 10);
  const auto coding = coder.choose(message, packet_sizes(kPayloadBytes));
  REQUIRE(coding.used());
  CHECK(coding.format == Format::kBfloat16);
  CHECK(coding.chunk_bytes % 128 == 0);
  CHECK(coding.chunk_bytes > kPayloadBytes);
  CHECK(coder.ratio() > 1.2);
  wire::Buffer memory;
  const auto piece = code_piece(coding.format, std::span(message).first(coding.chunk_bytes),
                                kPayloadBytes, memory);
  CHECK(piece.plain_bytes == coding.chunk_bytes);
  CHECK(piece.payload.size() <= kPayloadBytes - 8);
}

TEST_CASE("a packet decodes to its original bytes, whatever they are") {
  Rng rng(3);
  wire::Buffer memory;
  std::vector<std::byte> decoded;
  for (int k = 0; k < 400; ++k) {
    auto chunk =
        k % 2 == 0 ? bf16(1 + rng.below(4000), rng.next()) : random_bytes(1 + rng.below(4000));
    if (k % 3 == 0)
      std::fill(chunk.begin() + static_cast<std::ptrdiff_t>(chunk.size() / 2), chunk.end(),
                std::byte{0});
    const Format format = compression::kFormats[rng.below(compression::kFormatCount)];
    for (auto rest = std::span<const std::byte>(chunk); !rest.empty();) {
      const auto piece = code_piece(format, rest, kPayloadBytes, memory);
      REQUIRE(piece.plain_bytes > 0);
      REQUIRE(piece.payload.size() <= kPayloadBytes - 8);
      REQUIRE((piece.plain_bytes % 128 == 0 || piece.plain_bytes == rest.size()));
      const wire::Coding coding{4096, static_cast<std::uint32_t>(piece.plain_bytes),
                                static_cast<std::uint32_t>(piece.coded_bytes)};
      const auto plain = decode_piece(coding, piece.payload, decoded);
      REQUIRE(plain);
      REQUIRE(std::ranges::equal(*plain, rest.first(piece.plain_bytes)));
      rest = rest.subspan(piece.plain_bytes);
    }
  }
}

TEST_CASE("invalid code is refused") {
  std::vector<std::byte> memory;
  const auto noise = random_bytes(1000);
  CHECK_FALSE(decode_piece({1792, 1792, 1001}, noise, memory));  // longer than the packet
  CHECK_FALSE(decode_piece({1792, 1792, 1000}, noise, memory));
}
