#include "wire/data/data_header.h"

#include <vector>

#include "catch.h"
#include "wire/codec.h"
#include "wire/serial.h"

using namespace dlcp;
using namespace dlcp::wire;

namespace {

DataHeader sample() {
  DataHeader header;
  header.destination = 0x1122334455667788u;
  header.message = 7;
  header.message_bytes = 5000;
  header.offset = 1408;
  header.path_sequence = 0xfffffffe;
  header.sent_at = 12345;
  header.path = 13;
  header.traffic_class = TrafficClass::kBulkProtected;
  header.window_epoch = 60'000;
  return header;
}

constexpr std::uint64_t kNumber = 0xfffffffe;  // of sample()
constexpr std::uint64_t kRound = std::uint64_t{1} << 32;

const Key kKey{0x0706050403020100u, 0x0f0e0d0c0b0a0908u};

std::vector<std::byte> datagram_of(const DataHeader& header, std::size_t payload_bytes,
                                   Protection protection = Protection::kHeader,
                                   std::uint64_t number = kNumber) {
  std::vector<std::byte> payload(payload_bytes, std::byte{0x5a});
  std::vector<std::byte> bytes(header.bytes());
  encode_data(header, number, payload, {kKey, protection}, bytes);
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

}  // namespace

TEST_CASE("a data header survives encoding and decoding, in 44 bytes") {
  DataHeader sent = sample();
  sent.licensed = sent.asks_ack = sent.copied = true;
  sent.reply_path = 99;
  const auto bytes = datagram_of(sent, 128);
  REQUIRE(bytes.size() == 44 + 128);
  const auto packet = decode_data(bytes);
  REQUIRE(packet);
  CHECK(packet->header.destination == 0x1122334455667788u);
  CHECK(packet->header.message == 7);
  CHECK(packet->header.message_bytes == 5000);
  CHECK(packet->header.offset == 1408);
  CHECK(packet->header.path_sequence == 0xfffffffe);
  CHECK(packet->header.sent_at == 12345);
  CHECK(packet->header.path == 13);
  CHECK(packet->header.reply_path == 99);
  CHECK(packet->header.traffic_class == TrafficClass::kBulkProtected);
  CHECK(packet->header.window_epoch == 60'000);
  CHECK(packet->header.licensed);
  CHECK_FALSE(packet->header.retransmission);
  CHECK(packet->header.asks_ack);
  CHECK(packet->header.copied);
  CHECK(packet->payload.size() == 128);
  CHECK(authentic(bytes, {kKey, Protection::kHeader}, kNumber));
}

TEST_CASE("the header of a compressed message has the coding, in 52 bytes") {
  DataHeader sent = sample();
  sent.coding = {1792, 1664, 1311};
  for (const auto protection : {Protection::kHeader, Protection::kFull}) {
    const auto bytes = datagram_of(sent, 1400, protection);
    REQUIRE(bytes.size() == 52 + 1400);
    const auto packet = decode_data(bytes);
    REQUIRE(packet);
    CHECK(packet->header.coding == sent.coding);
    CHECK(packet->payload.size() == 1400);
    CHECK(data_header_bytes(bytes) == 52);
    CHECK(authentic(bytes, {kKey, protection}, kNumber));
    for (std::size_t bit = 0; bit < 52 * 8; ++bit) {
      auto flipped = bytes;
      flipped[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
      INFO("bit " << bit);
      CHECK_FALSE((decode_data(flipped) && authentic(flipped, {kKey, protection}, kNumber)));
    }
  }
}

TEST_CASE("a coding that no sender produces is not decoded") {
  for (const Coding coding : {Coding{128, 0, 1}, Coding{128, 256, 1}, Coding{128, 128, 0},
                              Coding{128, 100, 101}, Coding{64 << 10, 128, 100}}) {
    DataHeader sent = sample();
    sent.coding = coding;
    CHECK_FALSE(decode_data(datagram_of(sent, 1400)));
  }
  DataHeader sent = sample();
  sent.coding = {128, 128, 100};
  auto bytes = datagram_of(sent, 0);
  bytes.resize(51);
  CHECK_FALSE(decode_data(bytes));
}

TEST_CASE("a data header's bytes are those of wire version 3") {
  const auto bytes = datagram_of(sample(), 0);
  const std::vector<unsigned> expected = {
      0xdc, 3,    1,    0x40, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,  // head
      7,    0,    0,    0,    0x88, 0x13, 0,    0,    0x80, 5,    0,    0,     // message, offset
      0xfe, 0xff, 0xff, 0xff, 0x39, 0x30, 0,    0,    13,   0,    0x60, 0xea};
  REQUIRE(static_cast<unsigned>(TrafficClass::kBulkProtected) == 4);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("byte " << i);
    CHECK(std::to_integer<unsigned>(bytes[i]) == expected[i]);
  }
  // The tag equals that of another SipHash-1-3.
  CHECK(load_le<std::uint64_t>(bytes.data() + 36) ==
        siphash13(kKey, std::span<const std::byte>(bytes).first(36)));
  // Of a later packet, the number's upper bits are hashed between the header and its length.
  const auto later = datagram_of(sample(), 0, Protection::kHeader, kNumber | 0x00abcdefu * kRound);
  SipHash<1, 3> hash(kKey);
  for (const std::size_t at : {0, 8, 16, 24})
    hash.add(load_le<std::uint64_t>(bytes.data() + at));
  hash.add(load_le<std::uint32_t>(bytes.data() + 32) | std::uint64_t{0x24abcdef} << 32);
  CHECK(load_le<std::uint64_t>(later.data() + 36) == hash.finish());
}

TEST_CASE("any flipped bit of a data header is detected, and so is another key") {
  const auto good = datagram_of(sample(), 16);
  for (std::size_t bit = 0; bit < kDataHeaderBytes * 8; ++bit) {
    auto bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    INFO("bit " << bit);
    CHECK_FALSE((decode_data(bad) && authentic(bad, {kKey, Protection::kHeader}, kNumber)));
  }
  CHECK_FALSE(authentic(good, {{kKey.low, kKey.high + 1}, Protection::kHeader}, kNumber));
}

TEST_CASE("any flipped payload bit is detected if the payload is protected, and only then") {
  for (const auto protection : {Protection::kHeader, Protection::kFull}) {
    for (const std::size_t size : {1, 7, 8, 128, 131}) {
      const auto good = datagram_of(sample(), size, protection);
      CHECK(authentic(good, {kKey, protection}, kNumber));
      for (std::size_t byte = kDataHeaderBytes; byte < good.size(); ++byte) {
        auto bad = good;
        bad[byte] ^= std::byte{0x10};
        CHECK(authentic(bad, {kKey, protection}, kNumber) == (protection == Protection::kHeader));
      }
    }
  }
}

TEST_CASE("a protected payload cannot be shortened or extended") {
  const DataSeal seal{kKey, Protection::kFull};
  auto bytes = datagram_of(sample(), 128, Protection::kFull);
  bytes.push_back(std::byte{0});
  CHECK_FALSE(authentic(bytes, seal, kNumber));
  bytes.resize(bytes.size() - 9);
  CHECK_FALSE(authentic(bytes, seal, kNumber));
}

TEST_CASE("a tag covers bits 32 to 55 of the number, which the packet does not carry") {
  for (const auto protection : {Protection::kHeader, Protection::kFull}) {
    for (const bool coded : {false, true}) {
      DataHeader header = sample();
      if (coded) header.coding = {1792, 1664, 1311};
      const auto first = datagram_of(header, 1400, protection);
      for (int bit = 32; bit < 56; ++bit) {
        INFO("bit " << bit);
        const std::uint64_t later = kNumber | std::uint64_t{1} << bit;
        const auto bytes = datagram_of(header, 1400, protection, later);
        CHECK(std::equal(bytes.begin(), bytes.begin() + 36, first.begin()));
        CHECK(authentic(bytes, {kKey, protection}, later));
        CHECK_FALSE(authentic(bytes, {kKey, protection}, kNumber));
        CHECK_FALSE(authentic(bytes, {kKey, protection}, later + kRound));
        CHECK_FALSE(authentic(first, {kKey, protection}, later));
      }
    }
  }
}

TEST_CASE("a truncated header is not a data packet") {
  const auto bytes = datagram_of(sample(), 0);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_FALSE(decode_data(std::span(bytes).first(size)));
  CHECK(decode_data(bytes));
}

TEST_CASE("a time stamp from five minutes ago is not taken for a future one") {
  const Time now = time_from_ns(900'000'000'000);
  for (const Duration age :
       {Duration(0), Duration(1s), Duration(274s), Duration(300s), Duration(549s)}) {
    const Time back = from_wire_time(wire_time(now - age), now);
    CHECK(back <= now - age);
    CHECK(now - age - back < 256ns);
  }
}

TEST_CASE("send times survive the wrap of their 32 bits") {
  const Time now = time_from_ns((std::int64_t{1} << 39) + 1000);  // just after a wrap
  const Time before = now - 5ms;
  const Time back = from_wire_time(wire_time(before), now);
  CHECK(before - back < 128ns);
  CHECK(back <= before);
}

TEST_CASE("serial numbers expand to the nearest full number") {
  const std::uint64_t near = (std::uint64_t{3} << 32) + 5;
  CHECK(expand_serial(5, near) == near);
  CHECK(expand_serial(4, near) == near - 1);
  CHECK(expand_serial(0xffffffff, near) == near - 6);
  CHECK(expand_serial(0x7fffffff, near) == (std::uint64_t{3} << 32) + 0x7fffffff);
}
