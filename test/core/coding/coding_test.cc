// Whether and how a message is compressed, and one packet compressed and decompressed.
#include <algorithm>
#include <cstring>
#include <vector>

#include "catch.h"
#include "core/coding/coded_piece.h"
#include "core/coding/coder.h"
#include "core/coding/gate.h"
#include "util/rng.h"

using namespace dlcp;
using namespace dlcp::core;
using compression::Format;

namespace {

constexpr std::uint32_t kPayloadBytes = 1408;

// Elements whose exponents lie within a few values of each other.
std::vector<std::byte> bf16(std::size_t bytes, std::uint64_t seed = 1) {
  std::vector<std::byte> made(bytes);
  Rng rng(seed);
  for (std::size_t at = 0; at + 2 <= bytes; at += 2) {
    const auto bits = static_cast<std::uint16_t>((rng.next() & 0x81ff) | 0x3c00);
    std::memcpy(&made[at], &bits, 2);
  }
  return made;
}

std::vector<std::byte> random_bytes(std::size_t bytes) {
  std::vector<std::byte> made(bytes);
  Rng rng(2);
  for (auto& byte : made)
    byte = static_cast<std::byte>(rng.next());
  return made;
}

}  // namespace

TEST_CASE("a message of gradients is cut into chunks that fill a packet after compression") {
  Coder coder;
  const auto message = bf16(256 << 10);
  const MessageCoding coding = coder.choose(message, kPayloadBytes);
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

TEST_CASE("zeros are cut into chunks of the largest size") {
  Coder coder;
  const std::vector<std::byte> message(256 << 10);
  CHECK(coder.choose(message, kPayloadBytes).chunk_bytes == wire::kCodedChunkBytesMax);
}

TEST_CASE("zeros do not decide the format of later messages") {
  Coder coder;
  const std::vector<std::byte> zeros(256 << 10);
  CHECK(coder.choose(zeros, kPayloadBytes).used());
  const MessageCoding coding = coder.choose(bf16(256 << 10), kPayloadBytes);
  CHECK(coding.used());
  CHECK(coding.format == Format::kBfloat16);
}

TEST_CASE("a format that no longer fits is replaced within a few messages") {
  Coder coder;
  const auto halves = bf16(256 << 10);
  std::vector<std::byte> whole(256 << 10);  // fp32 with the exponents of bf16
  const auto low = random_bytes(whole.size());
  for (std::size_t at = 0; at < whole.size(); at += 4) {
    std::memcpy(&whole[at], &low[at], 2);
    std::memcpy(&whole[at + 2], &halves[at], 2);
  }
  CHECK(coder.choose(whole, kPayloadBytes).format == Format::kFloat32);
  int messages = 1;
  while (coder.choose(halves, kPayloadBytes).format != Format::kBfloat16)
    ++messages;
  CHECK(messages <= 9);
  CHECK(coder.ratio() > 1.2);
}

TEST_CASE("the cost of a choice is known, and is none if nothing is sampled") {
  Coder coder;
  const auto noise = random_bytes(256 << 10);
  (void)coder.choose(noise, kPayloadBytes);
  CHECK(coder.sampled_bytes() == 3u * 8 * 1024);
  (void)coder.choose(noise, kPayloadBytes);
  CHECK(coder.sampled_bytes() == 0);
}

TEST_CASE("after incompressible messages only few others are sampled") {
  Coder coder;
  const auto noise = random_bytes(256 << 10);
  const auto gradients = bf16(256 << 10);
  CHECK_FALSE(coder.choose(noise, kPayloadBytes).used());
  CHECK_FALSE(coder.choose(gradients, kPayloadBytes).used());  // not sampled
  CHECK(coder.choose(gradients, kPayloadBytes).used());
  for (int k = 0; k < 1000; ++k)
    CHECK_FALSE(coder.choose(noise, kPayloadBytes).used());
  int passed = 0;
  while (!coder.choose(gradients, kPayloadBytes).used())
    ++passed;
  CHECK(passed <= 64);
  CHECK(coder.choose(gradients, kPayloadBytes).used());
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

TEST_CASE("messages are compressed where the network is slower than the processor") {
  CompressionGate gate({.mode = CompressionMode::kAuto});
  Time now{};
  std::uint64_t delivered = 0;
  const auto acks = [&](double bytes_per_s, bool limited, bool backlogged = false) {
    for (int k = 0; k < 20; ++k)
      gate.on_ack(now += 1ms,
                  {.network_limited = limited,
                   .backlogged = backlogged,
                   .wire_bytes_per_s = bytes_per_s,
                   .delivered = delivered += static_cast<std::uint64_t>(bytes_per_s / 1000)});
    return gate.open();
  };
  CHECK_FALSE(acks(125e6, false));        // 1 Gbit/s, but the application is the limit
  CHECK_FALSE(acks(2.5e9, false, true));  // the processor is the limit, and sends fast
  CHECK(acks(0.4e9, false, true));        // it sends slowly
  CHECK_FALSE(acks(12.5e9, true));
  CHECK(acks(125e6, true));
  CHECK(acks(1.25e9, true));
  CHECK_FALSE(acks(12.5e9, true));
  gate.note_ratio(1.01);
  CHECK_FALSE(acks(125e6, true));  // compression would gain nothing
  CHECK(CompressionGate({.mode = CompressionMode::kOn}).open());
  CHECK_FALSE(CompressionGate({.mode = CompressionMode::kOff}).open());
}
