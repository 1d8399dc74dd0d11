#include "wire/frames/control_frame.h"

#include "catch.h"
#include "wire/codec.h"

using namespace dlcp;
using namespace dlcp::wire;

namespace {

const Key kKey{1, 2};

// The frame's bytes on the wire.
template <class Frame>
Buffer sealed(const Frame& frame) {
  Buffer bytes;
  encode(frame, bytes);
  seal(bytes, kKey, 0x01020304, 200);
  return bytes;
}

Ack sample_ack(std::uint16_t words = 2) {
  Ack ack;
  ack.destination = 42;
  ack.window_packets = 333;
  ack.window_epoch = 60'000;
  ack.answers_probe = true;
  ack.probe_echo = 0xabcdef01;
  ack.duplicates = 77;
  ack.sent = 0xfedcba98;
  ack.paths = {{3, 1, 100, 200, 300}, {15, 0, 1, 2, 3}};
  StreamReport& first = ack.add_stream();
  first.stream = 3;
  first.completed = 9;
  first.posted = 12;
  first.messages = {{9, 70, words}, {10, 0, 1}};
  first.bitmap = {0x1, 0x8000000000000000u, 0xff00ff00ff00ff00u};
  StreamReport& second = ack.add_stream();
  second.stream = 70'000;
  second.completed = 1;
  second.messages = {{1, 2, 1}};
  second.bitmap = {0x5};
  return ack;
}

Welcome sample_welcome() {
  return {.destination = 1,
          .receiver_token = 2,
          .datagram_bytes_max = 8972,
          .hello_bytes = 1452,
          .echo = 0x55aa,
          .protection = Protection::kFull,
          .association = 0x1234567890,
          .key_stream = 5,
          .payload_bytes = 8832,
          .posted = 6,
          .window_packets = 7};
}

}  // namespace

TEST_CASE("an ACK survives encoding and decoding, and its size is predicted") {
  const Ack ack = sample_ack();
  const Buffer bytes = sealed(ack);
  CHECK(bytes.size() == encoded_bytes(ack));
  Ack back;
  REQUIRE(decode_ack(bytes, back));
  CHECK(back.destination == 42);
  CHECK(back.window_packets == 333);
  CHECK(back.window_epoch == 60'000);
  CHECK(back.answers_probe);
  CHECK(back.probe_echo == 0xabcdef01);
  CHECK(back.duplicates == 77);
  CHECK(back.sent == 0xfedcba98);
  REQUIRE(back.paths.size() == 2);
  CHECK(back.paths[0].highest_sequence == 100);
  CHECK(back.paths[0].ce_marks == 1);
  CHECK(back.paths[1].held == 3);
  REQUIRE(back.streams().size() == 2);
  const StreamReport& first = back.streams()[0];
  CHECK(first.stream == 3);
  CHECK(first.completed == 9);
  CHECK(first.posted == 12);
  REQUIRE(first.messages.size() == 2);
  CHECK(first.messages[0].first_missing == 70);
  CHECK(first.messages[1].bitmap_words == 1);
  CHECK(first.bitmap == ack.streams()[0].bitmap);
  const StreamReport& second = back.streams()[1];
  CHECK(second.stream == 70'000);
  CHECK(second.completed == 1);
  CHECK(second.bitmap == ack.streams()[1].bitmap);
}

TEST_CASE("PING is an ACK of another type, and PONG names streams") {
  Ack ping = sample_ack();
  ping.asks_pong = true;
  const Buffer bytes = sealed(ping);
  CHECK(decode_head(bytes)->type == FrameType::kPing);
  CHECK(bytes.size() == encoded_bytes(ping));
  Ack back;
  REQUIRE(decode_ack(bytes, back));
  CHECK(back.asks_pong);
  CHECK(back.streams().size() == 2);
  REQUIRE(decode_ack(sealed(sample_ack()), back));
  CHECK_FALSE(back.asks_pong);

  const auto pong = decode<Pong>(sealed(Pong{1, 99, {3, 70'000}}));
  REQUIRE(pong);
  CHECK(pong->echo == 99);
  CHECK(pong->unknown == std::vector<std::uint32_t>{3, 70'000});
  Buffer shorter = sealed(Pong{1, 99, {3, 70'000}});
  shorter.pop_back();
  CHECK_FALSE(decode<Pong>(shorter));
}

TEST_CASE("an ACK object that is reused contains no streams of the last frame") {
  Ack ack = sample_ack();
  ack.asks_pong = true;
  ack.clear();
  CHECK_FALSE(ack.asks_pong);
  CHECK(ack.streams().empty());
  const StreamReport& stream = ack.add_stream();
  CHECK(stream.messages.empty());
  CHECK(stream.bitmap.empty());
}

TEST_CASE("an ACK whose counts do not match its length is refused") {
  const Ack ack = sample_ack(3);  // claims five words, has four
  const Buffer bytes = sealed(ack);
  Ack back;
  CHECK_FALSE(decode_ack(bytes, back));
}

TEST_CASE("a HELLO is padded to the size it states, and keeps its address") {
  Hello hello;
  hello.destination = 1;
  hello.listener_number = 77;
  hello.sender_token = 2;
  hello.sender_address.size = 60;
  hello.sender_address.bytes[59] = std::byte{9};
  hello.hello_bytes = 1452;
  hello.echo = 0x1234;
  hello.protection = Protection::kFull;
  const Buffer bytes = sealed(hello);
  REQUIRE(bytes.size() == 1452);
  const auto back = decode<Hello>(bytes);
  REQUIRE(back);
  CHECK(back->destination == 1);
  CHECK(back->listener_number == 77);
  CHECK(back->sender_token == 2);
  CHECK(back->sender_address == hello.sender_address);
  CHECK(back->hello_bytes == 1452);
  CHECK(back->echo == 0x1234);
  CHECK(back->protection == Protection::kFull);
  CHECK(back->membership == Membership{});
}

TEST_CASE("a HELLO names its bundle, and a WELCOME the lanes that its members may call") {
  Hello hello;
  hello.hello_bytes = 576;
  hello.membership = {0x1122334455667788u, 3, 16};
  const auto called = decode<Hello>(sealed(hello));
  REQUIRE(called);
  CHECK(called->membership == hello.membership);

  Welcome welcome = sample_welcome();
  const std::size_t before = sealed(welcome).size();
  CHECK(decode<Welcome>(sealed(welcome))->lanes.empty());
  for (std::uint8_t i = 0; i < Welcome::kLanesMax; ++i) {
    EndpointAddress lane;
    lane.size = EndpointAddress::kMaxBytes;
    lane.bytes.fill(static_cast<std::byte>(i));
    welcome.lanes.push_back(lane);
  }
  CHECK(decode<Welcome>(sealed(welcome))->lanes == welcome.lanes);
  CHECK(sealed(welcome).size() <= kControlFrameBytesMax);  // whatever the lanes' addresses
  welcome.lanes.resize(1);
  CHECK(sealed(welcome).size() == before + 1 + 61);
}

TEST_CASE("the frames of opening and ending survive encoding and decoding") {
  const Welcome welcome = sample_welcome();
  const auto welcomed = decode<Welcome>(sealed(welcome));
  REQUIRE(welcomed);
  CHECK(welcomed->receiver_token == 2);
  CHECK(welcomed->hello_bytes == 1452);
  CHECK(welcomed->echo == 0x55aa);
  CHECK(welcomed->protection == Protection::kFull);
  CHECK(welcomed->association == welcome.association);
  CHECK(welcomed->key_stream == 5);
  CHECK(welcomed->payload_bytes == 8832);
  CHECK(welcomed->posted == 6);
  CHECK(welcomed->window_packets == 7);
  const auto refused = decode<Refuse>(sealed(Refuse{1, Refuse::Cause::kClosed, "no"}));
  REQUIRE(refused);
  CHECK(refused->cause == Refuse::Cause::kClosed);
  CHECK(refused->reason == "no");
  const auto start = decode<Start>(sealed(Start{1, 1408, Protection::kFull, true}));
  REQUIRE(start);
  CHECK(start->payload_bytes == 1408);
  CHECK(start->protection == Protection::kFull);
  CHECK(start->unmarked);
  const auto started = decode<Started>(sealed(Started{1, 3, 4, 60'000}));
  REQUIRE(started);
  CHECK(started->posted == 3);
  CHECK(started->window_packets == 4);
  CHECK(started->window_epoch == 60'000);
  CHECK(decode<Probe>(sealed(Probe{1, 99}))->echo == 99);
  CHECK(decode<Close>(sealed(Close{1, 5}))->completed == 5);
  CHECK(decode<CloseAck>(sealed(CloseAck{6}))->destination == 6);
  CHECK(decode<Reset>(sealed(Reset{1, "gone"}))->reason == "gone");
}

TEST_CASE("a frame's bytes are those of wire version 3") {
  const Buffer bytes = sealed(Close{0x1122334455667788u, 5});
  const std::vector<unsigned> expected = {0xdc, 3,    11, 200, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33,
                                          0x22, 0x11, 4,  3,   2,    1,    5,    0,    0,    0};
  REQUIRE(bytes.size() == expected.size() + kTagBytes);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("byte " << i);
    CHECK(std::to_integer<unsigned>(bytes[i]) == expected[i]);
  }
  const auto tagged = std::span<const std::byte>(bytes).first(expected.size());
  CHECK(load_le<std::uint64_t>(bytes.data() + expected.size()) == siphash13(kKey, tagged));
}

TEST_CASE("unknown trailing fields are skipped in HELLO and WELCOME, and refused in other frames") {
  Buffer bytes;
  EndpointAddress lane;
  lane.size = 7;
  encode(Welcome{.destination = 1, .receiver_token = 2, .lanes = {lane}}, bytes);
  bytes.resize(bytes.size() + 20, std::byte{0xee});
  seal(bytes, kKey, 0, 0);
  REQUIRE(decode<Welcome>(bytes));
  CHECK(decode<Welcome>(bytes)->receiver_token == 2);
  CHECK(decode<Welcome>(bytes)->lanes == std::vector{lane});
  encode(Welcome{.destination = 1, .receiver_token = 2}, bytes);
  bytes.resize(bytes.size() + 20, std::byte{0xee});
  seal(bytes, kKey, 0, 0);
  REQUIRE(decode<Welcome>(bytes));
  CHECK(decode<Welcome>(bytes)->lanes.empty());
  Hello hello;
  hello.hello_bytes = 576;
  bytes = sealed(hello);
  bytes[bytes.size() - kTagBytes - 1] = std::byte{0xee};
  CHECK(decode<Hello>(bytes));
  encode(Close{1, 2}, bytes);
  bytes.resize(bytes.size() + 1);
  seal(bytes, kKey, 0, 0);
  CHECK_FALSE(decode<Close>(bytes));
}

TEST_CASE("an address field longer than an address is refused") {
  Hello hello;
  hello.sender_address.size = 60;
  Buffer bytes = sealed(hello);
  CHECK(decode<Hello>(bytes));
  bytes[16 + 12] = std::byte{61};  // the length byte, after head, number, listener and token
  CHECK_FALSE(decode<Hello>(bytes));
}

TEST_CASE("a reason is truncated to its maximum length") {
  const auto back =
      decode<Refuse>(sealed(Refuse{5, Refuse::Cause::kSettings, std::string(500, 'x')}));
  REQUIRE(back);
  CHECK(back->reason.size() == kReasonBytesMax);
}

TEST_CASE("a peer's text is safe to log: anything but printable ASCII becomes a question mark") {
  const auto back = decode<Reset>(sealed(Reset{5, "haha\n\x1b[31m~ \x7f\xc3"}));
  REQUIRE(back);
  CHECK(back->reason == "haha??[31m~ ??");
}

TEST_CASE("a control frame states the path it was sent on and its number") {
  const Buffer bytes = sealed(CloseAck{7});
  CHECK(decode_head(bytes)->flags == 200);
  CHECK(decode_head(bytes)->destination == 7);
  CHECK(control_sequence(bytes) == 0x01020304);
}

TEST_CASE("every single-bit error in a control frame is detected, and so is another key") {
  const Buffer good = sealed(Close{77, 5});
  REQUIRE(authentic(good, kKey));
  CHECK_FALSE(authentic(good, {1, 3}));
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    Buffer bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    INFO("bit " << bit);
    CHECK_FALSE(authentic(bad, kKey));
  }
}

TEST_CASE("a control frame's tag covers bits 32 to 55 of its number, which it does not carry") {
  const auto numbered = [](std::uint64_t number) {
    Buffer bytes;
    encode(Close{77, 5}, bytes);
    seal(bytes, kKey, number, 1);
    return bytes;
  };
  constexpr std::uint64_t kFirst = 9;
  const Buffer first = numbered(kFirst);
  for (int bit = 32; bit < 56; ++bit) {
    INFO("bit " << bit);
    const std::uint64_t later = kFirst | std::uint64_t{1} << bit;
    const Buffer bytes = numbered(later);
    CHECK(bytes.size() == first.size());
    CHECK(std::equal(bytes.begin(), bytes.end() - kTagBytes, first.begin()));
    CHECK(control_sequence(bytes) == kFirst);
    CHECK(authentic(bytes, kKey, later));
    CHECK_FALSE(authentic(bytes, kKey, kFirst));
    CHECK_FALSE(authentic(bytes, kKey, later + (std::uint64_t{1} << 32)));
    CHECK_FALSE(authentic(first, kKey, later));
  }
}

TEST_CASE("the tag of a HELLO covers all fields, with the longest address, and its length") {
  Hello hello;
  hello.sender_address.size = 60;
  hello.hello_bytes = 1452;
  const Buffer good = sealed(hello);
  const std::size_t fields = 16 + 4 + 8 + 1 + 60 + 4 + 4 + 4 + 1;
  for (std::size_t byte = 0; byte < fields; ++byte) {
    Buffer bad = good;
    bad[byte] ^= std::byte{1};
    INFO("byte " << byte);
    CHECK_FALSE(authentic(bad, kKey));
  }
}

TEST_CASE("a frame of one type does not decode as another") {
  const Buffer bytes = sealed(CloseAck{1});
  CHECK(decode<CloseAck>(bytes));
  CHECK_FALSE(decode<Pong>(bytes));
  CHECK_FALSE(decode<Close>(bytes));
}

TEST_CASE(
    "an unknown frame type is refused if the head has this wire version, and accepted if it has "
    "another") {
  Buffer bytes = sealed(CloseAck{1});
  bytes[2] = std::byte{200};
  CHECK_FALSE(decode_head(bytes));
  bytes[1] = std::byte{1};
  CHECK(decode_head(bytes));
}
