// The doctor's two frames, on raw bytes and on bytes with corrected head, length and checksum. The
// answer to an accepted request is never longer than the request.
#include "wire/frames/echo_frame.h"

#include "fuzz_input.h"
#include "wire/codec.h"

using namespace dlcp;
using namespace dlcp::wire;
using dlcp::test::require;

namespace {

void decode_both(std::span<const std::byte> datagram) {
  Buffer encoded;
  if (const auto request = decode_echo_request(datagram)) {
    const std::size_t answers = request->call_port != 0 ? 2 : 1;
    require(answers * request->reply_bytes <= datagram.size(),
            "answers are no longer than their request");
    require(request->frame_bytes == datagram.size(), "a request states its length");
    require(request->path <= 255, "a path is an index of one byte");
    encode(*request, encoded);
    require(encoded.size() == datagram.size(), "a request encodes to its length");
    require(decode_echo_request(encoded).has_value(), "an encoded request decodes");
  }
  if (const auto reply = decode_echo_reply(datagram)) {
    encode(*reply, encoded);
    require(encoded.size() == datagram.size(), "a reply encodes to its length");
    require(decode_echo_reply(encoded).has_value(), "an encoded reply decodes");
  }
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds;
  const auto add = [&](const auto& frame) {
    Buffer encoded;
    encode(frame, encoded);
    seeds.emplace_back(reinterpret_cast<const char*>(encoded.data()), encoded.size());
  };
  EchoRequest request;
  request.frame_bytes = 100;
  request.reply_bytes = 80;
  add(request);
  add(EchoReply{});
  return seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Buffer datagram(reinterpret_cast<const std::byte*>(data),
                  reinterpret_cast<const std::byte*>(data) + size);
  decode_both(datagram);
  if (datagram.size() < kEchoFrameBytesMin) return 0;
  datagram[0] = std::byte{kMagic};
  datagram[1] = std::byte{kWireVersion};
  datagram[2] = static_cast<std::byte>(17 + static_cast<unsigned>(datagram[2]) % 2);
  store_le(datagram.data() + kControlHeadBytes + 4, static_cast<std::uint32_t>(size));
  datagram.resize(size - kTagBytes);
  seal(datagram, {}, 0, 0);
  decode_both(datagram);
  return 0;
}
