#include "wire/data_header.h"

#include <vector>

#include "catch.h"
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
  header.window_epoch = 200;
  return header;
}

std::vector<std::byte> datagram_of(const DataHeader& header, std::size_t payload_bytes) {
  std::vector<std::byte> payload(payload_bytes, std::byte{0x5a});
  std::vector<std::byte> bytes(64);
  bytes.resize(encode_data(header, payload, bytes));
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

}  // namespace

TEST_CASE("a data header comes back as it was sent, in 40 bytes") {
  const auto bytes = datagram_of(sample(), 128);
  REQUIRE(bytes.size() == kDataHeaderBytes + 128);
  const auto packet = decode_data(bytes);
  REQUIRE(packet);
  CHECK(packet->header.destination == 0x1122334455667788u);
  CHECK(packet->header.message == 7);
  CHECK(packet->header.message_bytes == 5000);
  CHECK(packet->header.offset == 1408);
  CHECK(packet->header.path_sequence == 0xfffffffe);
  CHECK(packet->header.sent_at == 12345);
  CHECK(packet->header.path == 13);
  CHECK(packet->header.traffic_class == TrafficClass::kBulkProtected);
  CHECK(packet->header.window_epoch == 200);
  CHECK_FALSE(packet->header.licensed);
  CHECK_FALSE(packet->header.retransmission);
  CHECK(packet->payload.size() == 128);
  CHECK(payload_intact(bytes, *packet));
}

TEST_CASE("any flipped bit of a data header is noticed") {
  const auto good = datagram_of(sample(), 16);
  for (std::size_t bit = 0; bit < kDataHeaderBytes * 8; ++bit) {
    auto bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    INFO("bit " << bit);
    CHECK_FALSE(decode_data(bad));
  }
}

TEST_CASE("a flipped payload bit is noticed with the payload CRC and only then") {
  for (const bool with_crc : {false, true}) {
    DataHeader header = sample();
    header.payload_crc = with_crc;
    auto bytes = datagram_of(header, 256);
    bytes.back() ^= std::byte{1};
    const auto packet = decode_data(bytes);
    REQUIRE(packet);
    CHECK(payload_intact(bytes, *packet) == !with_crc);
  }
}

TEST_CASE("a truncated data packet is no data packet") {
  DataHeader header = sample();
  header.payload_crc = true;
  const auto bytes = datagram_of(header, 0);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK_FALSE(decode_data(std::span(bytes).first(size)));
  }
  CHECK(decode_data(bytes));
}

TEST_CASE("send times survive the wrap of their 32 bits") {
  const Time now = time_from_ns((std::int64_t{1} << 39) + 1000);  // just after a wrap
  const Time before = now - 5ms;
  const Time back = from_wire_time(wire_time(before), now);
  CHECK(before - back < 128ns);
  CHECK(back <= before);
}

TEST_CASE("serial numbers expand to the nearest of their kind") {
  const std::uint64_t near = (std::uint64_t{3} << 32) + 5;
  CHECK(expand_serial(5, near) == near);
  CHECK(expand_serial(4, near) == near - 1);
  CHECK(expand_serial(0xffffffff, near) == near - 6);
  CHECK(expand_serial(0x7fffffff, near) == (std::uint64_t{3} << 32) + 0x7fffffff);
}
