// Whether and how a message is compressed.
#include "compression/coder.h"

#include <cstring>
#include <vector>

#include "catch.h"
#include "compression/gate.h"
#include "compression/samples.h"

using namespace dlcp;
using namespace dlcp::test;
using namespace dlcp::compression;

namespace {

constexpr PacketSizes kPacket{
    .plain = 1408, .coded = 1400, .granule = 128, .chunk_bytes_max = 32 << 10};

}  // namespace

TEST_CASE("zeros are cut into chunks of the largest size") {
  Coder coder;
  const std::vector<std::byte> message(256 << 10);
  CHECK(coder.choose(message, kPacket).chunk_bytes == kPacket.chunk_bytes_max);
}

TEST_CASE("zeros do not decide the format of later messages") {
  Coder coder;
  const std::vector<std::byte> zeros(256 << 10);
  CHECK(coder.choose(zeros, kPacket).used());
  const MessageCoding coding = coder.choose(bf16(256 << 10), kPacket);
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
  CHECK(coder.choose(whole, kPacket).format == Format::kFloat32);
  int messages = 1;
  while (coder.choose(halves, kPacket).format != Format::kBfloat16)
    ++messages;
  CHECK(messages <= 9);
  CHECK(coder.ratio() > 1.2);
}

TEST_CASE("after incompressible messages only few others are sampled") {
  Coder coder;
  const auto noise = random_bytes(256 << 10);
  const auto gradients = bf16(256 << 10);
  CHECK_FALSE(coder.choose(noise, kPacket).used());
  CHECK_FALSE(coder.choose(gradients, kPacket).used());  // not sampled
  CHECK(coder.choose(gradients, kPacket).used());
  for (int k = 0; k < 1000; ++k)
    CHECK_FALSE(coder.choose(noise, kPacket).used());
  int passed = 0;
  while (!coder.choose(gradients, kPacket).used())
    ++passed;
  CHECK(passed <= 64);
  CHECK(coder.choose(gradients, kPacket).used());
}

TEST_CASE("messages are compressed where the network is slower than the processor") {
  Gate gate({.mode = Mode::kAuto});
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
  CHECK(Gate({.mode = Mode::kOn}).open());
  CHECK_FALSE(Gate({.mode = Mode::kOff}).open());
}

TEST_CASE("data that gained nothing closes the gate for a second") {
  Gate gate({.mode = Mode::kAuto});
  Time now{};
  const auto intervals = [&](int count) {
    for (int k = 0; k < count; ++k)
      gate.on_ack(now += 2ms, {.network_limited = true, .wire_bytes_per_s = 125e6});
    return gate.open();
  };
  CHECK(intervals(4));
  gate.note_ratio(1.01);
  CHECK(intervals(2));
  CHECK_FALSE(intervals(1));
  CHECK_FALSE(intervals(499 + 2));
  CHECK(intervals(1));
  gate.note_ratio(1.4);
  CHECK(intervals(1000));
}
