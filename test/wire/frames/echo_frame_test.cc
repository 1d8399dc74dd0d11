// Echo frames: round trips, and refusal of all frames that are damaged or request too much.
#include "wire/frames/echo_frame.h"

#include <vector>

#include "catch.h"
#include "util/rng.h"
#include "wire/codec.h"

using namespace dlcp;
using namespace dlcp::wire;

namespace {

EchoRequest request_of(std::uint32_t frame_bytes, std::uint32_t reply_bytes) {
  EchoRequest request;
  request.session = 0x1122334455667788;
  request.sequence = 7;
  request.frame_bytes = frame_bytes;
  request.reply_bytes = reply_bytes;
  request.sent_at_ns = 123456789012345;
  request.path = 255;
  request.tos = 0x4a;
  return request;
}

// Corrects the tag after a field was changed.
void reseal(Buffer& frame) {
  frame.resize(frame.size() - kTagBytes);
  seal(frame, {}, 0, 0);
}

}  // namespace

TEST_CASE("an echo request survives encoding and decoding, at every size") {
  Buffer frame;
  for (const std::uint32_t bytes : {64u, 65u, 1472u, 8972u, 65507u}) {
    encode(request_of(bytes, 64), frame);
    REQUIRE(frame.size() == bytes);
    const auto decoded = decode_echo_request(frame);
    REQUIRE(decoded);
    CHECK(decoded->session == 0x1122334455667788);
    CHECK(decoded->sequence == 7);
    CHECK(decoded->frame_bytes == bytes);
    CHECK(decoded->reply_bytes == 64);
    CHECK(decoded->sent_at_ns == 123456789012345);
    CHECK(decoded->path == 255);
    CHECK(decoded->tos == 0x4a);
    CHECK_FALSE(decode_echo_reply(frame));
  }
}

TEST_CASE("an echo reply survives encoding and decoding") {
  EchoReply reply{42, 8, 100, 3, 99, 17, 0x4a, 0x03, 50001};
  Buffer frame;
  encode(reply, frame);
  REQUIRE(frame.size() == 100);
  const auto decoded = decode_echo_reply(frame);
  REQUIRE(decoded);
  CHECK(decoded->session == 42);
  CHECK(decoded->sequence == 8);
  CHECK(decoded->requests_seen == 3);
  CHECK(decoded->sent_at_ns == 99);
  CHECK(decoded->path == 17);
  CHECK(decoded->tos_sent == 0x4a);
  CHECK(decoded->tos_seen == 0x03);
  CHECK(decoded->data_port == 50001);
  CHECK_FALSE(decode_echo_request(frame));
}

TEST_CASE("a request never gets a longer answer than itself") {
  Buffer frame;
  encode(request_of(200, 200), frame);
  CHECK(decode_echo_request(frame));
  encode(request_of(200, 201), frame);
  CHECK_FALSE(decode_echo_request(frame));
  encode(request_of(64, 63), frame);  // shorter than the shortest answer
  CHECK_FALSE(decode_echo_request(frame));
}

TEST_CASE("a call goes only to a data port, and its request must be large enough to cover it") {
  Buffer frame;
  EchoRequest request = request_of(200, 100);
  request.call_port = 49152;
  encode(request, frame);
  REQUIRE(decode_echo_request(frame));
  CHECK(decode_echo_request(frame)->call_port == 49152);
  request.call_port = 49151;
  encode(request, frame);
  CHECK_FALSE(decode_echo_request(frame));
  request = request_of(199, 100);
  request.call_port = 49152;
  encode(request, frame);
  CHECK_FALSE(decode_echo_request(frame));
}

TEST_CASE("any flipped bit, and any shortened or extended frame, is refused") {
  Buffer frame;
  encode(request_of(80, 64), frame);
  for (std::size_t bit = 0; bit < frame.size() * 8; ++bit) {
    Buffer changed = frame;
    changed[bit / 8] ^= std::byte{1} << (bit % 8);
    CHECK_FALSE(decode_echo_request(changed));
  }
  for (std::size_t size = 0; size < frame.size(); ++size)
    CHECK_FALSE(decode_echo_request(std::span(frame).first(size)));
  Buffer longer = frame;
  longer.resize(81);
  reseal(longer);
  CHECK_FALSE(decode_echo_request(longer));  // undamaged, but not of the length it states
}

TEST_CASE("a path beyond 255 is refused") {
  Buffer frame;
  encode(request_of(80, 64), frame);
  frame[16 + 20 + 1] = std::byte{1};  // the upper byte of the path
  reseal(frame);
  CHECK_FALSE(decode_echo_request(frame));
}
