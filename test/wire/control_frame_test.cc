#include "wire/control_frame.h"

#include "catch.h"

using namespace dlcp;
using namespace dlcp::wire;

namespace {

Ack sample_ack() {
  Ack ack;
  ack.destination = 42;
  ack.completed = 9;
  ack.posted = 12;
  ack.window_packets = 333;
  ack.window_epoch = 7;
  ack.answers_probe = true;
  ack.probe_echo = 0xabcdef01;
  ack.duplicates = 77;
  ack.paths = {{3, 1, 100, 200, 300}, {15, 0, 1, 2, 3}};
  ack.messages = {{9, 70, 2}, {10, 0, 1}};
  ack.bitmap = {0x1, 0x8000000000000000u, 0xff00ff00ff00ff00u};
  return ack;
}

}  // namespace

TEST_CASE("an ACK comes back as it was sent, and its size is foretold") {
  const Ack ack = sample_ack();
  Buffer bytes;
  encode(ack, bytes);
  CHECK(bytes.size() == encoded_bytes(ack));
  Ack back;
  REQUIRE(decode_ack(bytes, back));
  CHECK(back.destination == 42);
  CHECK(back.completed == 9);
  CHECK(back.posted == 12);
  CHECK(back.window_packets == 333);
  CHECK(back.window_epoch == 7);
  CHECK(back.answers_probe);
  CHECK(back.probe_echo == 0xabcdef01);
  CHECK(back.duplicates == 77);
  REQUIRE(back.paths.size() == 2);
  CHECK(back.paths[0].highest_sequence == 100);
  CHECK(back.paths[0].ce_marks == 1);
  CHECK(back.paths[1].held == 3);
  REQUIRE(back.messages.size() == 2);
  CHECK(back.messages[0].first_missing == 70);
  CHECK(back.messages[1].bitmap_words == 1);
  CHECK(back.bitmap == ack.bitmap);
}

TEST_CASE("an ACK whose counts do not match its length is refused") {
  Buffer bytes;
  Ack ack = sample_ack();
  ack.messages[1].bitmap_words = 2;  // says three words and a half, has three
  encode(ack, bytes);
  Ack back;
  CHECK_FALSE(decode_ack(bytes, back));
}

TEST_CASE("a HELLO is padded to the size it names, and keeps its address") {
  Hello hello;
  hello.destination = 1;
  hello.sender_token = 2;
  hello.sender_address.size = 60;
  hello.sender_address.bytes[59] = std::byte{9};
  hello.datagram_bytes_max = 8972;
  hello.hello_bytes = 1452;
  hello.paths = 16;
  hello.checksum = ChecksumMode::kFull;
  hello.plugin_version = "1.2.3";
  Buffer bytes;
  encode(hello, bytes);
  REQUIRE(bytes.size() == 1452);
  const auto back = decode_hello(bytes);
  REQUIRE(back);
  CHECK(back->sender_token == 2);
  CHECK(back->sender_address == hello.sender_address);
  CHECK(back->hello_bytes == 1452);
  CHECK(back->checksum == ChecksumMode::kFull);
  CHECK(back->plugin_version == "1.2.3");
}

TEST_CASE("a HELLO of another wire version can be read as far as its address") {
  Hello hello;
  hello.wire_version = 9;
  hello.sender_token = 2;
  hello.sender_address.size = 4;
  Buffer bytes;
  encode(hello, bytes);
  const auto back = decode_hello(bytes);
  REQUIRE(back);
  CHECK(back->wire_version == 9);
  CHECK(back->sender_token == 2);
  CHECK(back->sender_address.size == 4);
}

TEST_CASE("an address longer than an address is refused") {
  Hello hello;
  hello.sender_address.size = 61;
  Buffer bytes;
  Hello longest = hello;
  longest.sender_address.size = 60;
  encode(longest, bytes);
  CHECK(decode_hello(bytes));
  bytes[20] = std::byte{61};  // the length byte, after head and token; the CRC no longer matters
  CHECK_FALSE(decode_hello(bytes));
}

TEST_CASE("a REFUSE is understood from any wire version, with its reason cut to size") {
  Refuse refuse;
  refuse.destination = 5;
  refuse.wire_version = 3;
  refuse.reason = std::string(500, 'x');
  Buffer bytes;
  encode(refuse, bytes);
  const auto back = decode_refuse(bytes);
  REQUIRE(back);
  CHECK(back->wire_version == 3);
  CHECK(back->reason.size() == kReasonBytesMax);
}

TEST_CASE("a control frame says which path it was sent on, and stays intact") {
  Buffer bytes;
  encode(Ping{7, 1234}, bytes);
  CHECK(decode_head(bytes)->flags == 0);
  set_path(bytes, 200);
  CHECK(decode_head(bytes)->flags == 200);
  REQUIRE(decode_ping(bytes));
  CHECK(decode_ping(bytes)->echo == 1234);
  bytes[3] ^= std::byte{1};
  CHECK(!decode_ping(bytes));
}

TEST_CASE("every single-bit error in a control frame is noticed") {
  Buffer good;
  encode(Close{77, 5}, good);
  REQUIRE(decode_close(good));
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    Buffer bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    INFO("bit " << bit);
    CHECK_FALSE(decode_close(bad));
  }
}

TEST_CASE("a frame of one type is not read as another") {
  Buffer bytes;
  encode(Ping{1, 2}, bytes);
  CHECK(decode_ping(bytes));
  CHECK_FALSE(decode_pong(bytes));
  CHECK_FALSE(decode_close(bytes));
}

TEST_CASE("a head of our version with an unknown type is refused, of another version it is not") {
  Buffer bytes;
  encode(Ping{1, 2}, bytes);
  bytes[2] = std::byte{200};
  CHECK_FALSE(decode_head(bytes));
  bytes[1] = std::byte{2};
  CHECK(decode_head(bytes));
}
