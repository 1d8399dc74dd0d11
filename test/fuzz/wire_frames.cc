// Every decoder of wire/, on raw bytes and on bytes with a corrected head. A decoded frame must
// encode to one that decodes to the same, and an encoded frame must decode to the original.
#include <tuple>

#include "fuzz_input.h"
#include "wire/data/data_header.h"
#include "wire/frames/control_frame.h"
#include "wire/frames/loss_frame.h"
#include "wire/frames/placed_frame.h"

using namespace dlcp;
using namespace dlcp::wire;
using dlcp::test::FuzzInput;
using dlcp::test::require;

namespace {

using Bytes = std::span<const std::byte>;

auto fields(const Hello& f) {
  return std::tie(f.destination, f.listener_number, f.sender_token, f.sender_address, f.hello_bytes,
                  f.echo, f.protection, f.membership.bundle, f.membership.member,
                  f.membership.lanes);
}
auto fields(const Welcome& f) {
  return std::tie(f.destination, f.receiver_token, f.datagram_bytes_max, f.hello_bytes, f.echo,
                  f.protection, f.association, f.key_stream, f.payload_bytes, f.posted,
                  f.window_packets, f.lanes);
}
auto fields(const Refuse& f) {
  return std::tie(f.destination, f.cause, f.reason);
}
auto fields(const Start& f) {
  return std::tie(f.destination, f.payload_bytes, f.protection);
}
auto fields(const Started& f) {
  return std::tie(f.destination, f.posted, f.window_packets, f.window_epoch);
}
auto fields(const Probe& f) {
  return std::tie(f.destination, f.echo);
}
auto fields(const Pong& f) {
  return std::tie(f.destination, f.echo, f.unknown);
}
auto fields(const Close& f) {
  return std::tie(f.destination, f.completed);
}
auto fields(const CloseAck& f) {
  return std::tie(f.destination);
}
auto fields(const Reset& f) {
  return std::tie(f.destination, f.reason);
}
auto fields(const SentOnce& f) {
  return std::tie(f.destination, f.message, f.message_bytes, f.echo, f.path, f.urgent, f.marks);
}
auto fields(const Need& f) {
  return std::tie(f.destination, f.message, f.echo, f.path);
}
auto fields(const Stop& f) {
  return std::tie(f.destination, f.message, f.lost_bytes, f.holes);
}
auto fields(const Link& f) {
  return std::tie(f.destination, f.introduction);
}
auto fields(const Permits& f) {
  return std::tie(f.destination, f.permits);
}

bool same(const Ack& a, const Ack& b) {
  const auto head = [](const Ack& f) {
    return std::tie(f.asks_pong, f.destination, f.window_packets, f.window_epoch, f.probe_echo,
                    f.answers_probe, f.duplicates, f.sent);
  };
  const auto path = [](const PathReport& x, const PathReport& y) {
    return std::tie(x.path, x.ce_marks, x.highest_sequence, x.echo, x.held) ==
           std::tie(y.path, y.ce_marks, y.highest_sequence, y.echo, y.held);
  };
  const auto message = [](const MessageReport& x, const MessageReport& y) {
    return std::tie(x.message, x.first_missing, x.bitmap_words, x.closing) ==
           std::tie(y.message, y.first_missing, y.bitmap_words, y.closing);
  };
  const auto stream = [&](const StreamReport& x, const StreamReport& y) {
    return std::tie(x.stream, x.completed, x.posted, x.bitmap) ==
               std::tie(y.stream, y.completed, y.posted, y.bitmap) &&
           std::equal(x.messages.begin(), x.messages.end(), y.messages.begin(), y.messages.end(),
                      message);
  };
  const auto placed = [](const PlacedReport& x, const PlacedReport& y) {
    return std::tie(x.path, x.name, x.held) == std::tie(y.path, y.name, y.held);
  };
  return head(a) == head(b) &&
         std::equal(a.placed.begin(), a.placed.end(), b.placed.begin(), b.placed.end(), placed) &&
         std::equal(a.paths.begin(), a.paths.end(), b.paths.begin(), b.paths.end(), path) &&
         std::equal(a.streams().begin(), a.streams().end(), b.streams().begin(), b.streams().end(),
                    stream);
}

// A datagram's size bounds a HELLO's padding; larger values must not be encoded.
bool encodable(const Hello& hello) {
  return hello.hello_bytes <= 65'507;
}
template <class Frame>
bool encodable(const Frame&) {
  return true;
}

const Key kKey{1, 2};

template <class Frame>
Buffer sealed(const Frame& frame) {
  Buffer encoded;
  encode(frame, encoded);
  seal(encoded, kKey, 3, 4);
  require(authentic(encoded, kKey), "a sealed frame is authentic");
  return encoded;
}

template <class Frame>
void round_trip(Bytes datagram) {
  const auto first = decode<Frame>(datagram);
  if (!first || !encodable(*first)) return;
  const Buffer encoded = sealed(*first);
  const auto second = decode<Frame>(encoded);
  require(second.has_value(), "encoded data decodes");
  require(fields(*first) == fields(*second), "decode, encode, decode gives the same fields");
  require(encoded == sealed(*second), "encoding is stable");
}

void round_trip_ack(Bytes datagram) {
  Ack first;
  if (!decode_ack(datagram, first)) return;
  const Buffer encoded = sealed(first);
  require(encoded.size() == encoded_bytes(first), "encoded_bytes returns an ACK's size");
  Ack second;
  require(decode_ack(encoded, second), "an encoded ACK decodes");
  require(same(first, second), "an ACK keeps its fields");
}

void round_trip_data(Bytes datagram) {
  const auto first = decode_data(datagram);
  if (!first) return;
  for (const auto protection : {Protection::kHeader, Protection::kFull}) {
    const DataSeal seal{kKey, protection};
    Buffer encoded(first->header.bytes());
    const auto number = first->header.path_sequence | std::uint64_t{first->header.sent_at} << 32;
    encode_data(first->header, number, first->payload, seal, encoded);
    encoded.insert(encoded.end(), first->payload.begin(), first->payload.end());
    require(authentic(encoded, seal, number), "a sealed frame is authentic");
    require(!authentic(encoded, seal, number + (std::uint64_t{1} << 32)),
            "a frame sealed for one number is not authentic under another");
    const auto second = decode_data(encoded);
    require(second.has_value(), "an encoded data packet decodes");
    require(second->payload.size() == first->payload.size(), "the payload keeps its size");
    // All bytes are equal except the tag, and two unused ones behind a coding.
    require(std::equal(encoded.begin(), encoded.begin() + 36, datagram.begin()),
            "a header encodes to the bytes it came from");
    require(first->header.coding == second->header.coding, "a header keeps its coding");
    (void)authentic(datagram, seal, number);
  }
}

void decode_all(Bytes datagram) {
  (void)decode_head(datagram);
  round_trip_data(datagram);
  round_trip_ack(datagram);
  round_trip<Hello>(datagram);
  round_trip<Welcome>(datagram);
  round_trip<Refuse>(datagram);
  round_trip<Start>(datagram);
  round_trip<Started>(datagram);
  round_trip<Probe>(datagram);
  round_trip<Pong>(datagram);
  round_trip<Close>(datagram);
  round_trip<CloseAck>(datagram);
  round_trip<Reset>(datagram);
  round_trip<SentOnce>(datagram);
  round_trip<Need>(datagram);
  round_trip<Stop>(datagram);
  round_trip<Link>(datagram);
  round_trip<Permits>(datagram);
}

// Corrects the head, so that the decoder reads the fields.
void put_right(Buffer& datagram) {
  if (datagram.size() < kFrameHeadBytes + 4) return;
  datagram[0] = std::byte{kMagic};
  datagram[1] = std::byte{kWireVersion};
  datagram[2] = static_cast<std::byte>(static_cast<unsigned>(datagram[2]) % 20 + 1);
  (void)authentic(datagram, kKey);
}

void encode_ack_of(FuzzInput& input) {
  Ack ack;
  ack.destination = input.take<std::uint64_t>();
  ack.asks_pong = ack.destination % 2 == 1;
  ack.window_packets = input.take<std::uint32_t>();
  ack.window_epoch = input.take<std::uint16_t>();
  ack.answers_probe = input.take<std::uint8_t>() % 2 == 1;
  ack.probe_echo = input.take<std::uint32_t>();
  ack.duplicates = input.take<std::uint32_t>();
  ack.sent = input.take<std::uint32_t>();
  const std::size_t paths = input.below(256);
  const std::size_t streams = input.below(8);
  for (std::size_t i = 0; i < paths; ++i) {
    ack.paths.push_back({input.take<std::uint8_t>(), input.take<std::uint8_t>(),
                         input.take<std::uint32_t>(), input.take<std::uint32_t>(),
                         input.take<std::uint32_t>()});
  }
  for (std::size_t i = 0; i < streams; ++i) {
    StreamReport& stream = ack.add_stream();
    stream.stream = input.take<std::uint32_t>();
    stream.completed = input.take<std::uint32_t>();
    stream.posted = input.take<std::uint32_t>();
    const std::size_t messages = input.below(32);
    for (std::size_t j = 0; j < messages; ++j) {
      const auto words = static_cast<std::uint16_t>(input.below(16));
      stream.messages.push_back({input.take<std::uint32_t>(), input.take<std::uint32_t>(), words});
      for (std::size_t w = 0; w < words; ++w)
        stream.bitmap.push_back(input.take<std::uint64_t>());
    }
  }
  const Buffer encoded = sealed(ack);
  Ack decoded;
  require(decode_ack(encoded, decoded) && same(ack, decoded),
          "an ACK survives encoding and decoding");
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds;
  const auto add = [&](const auto& frame) {
    const Buffer encoded = sealed(frame);
    seeds.emplace_back("\1");
    seeds.back().append(reinterpret_cast<const char*>(encoded.data()), encoded.size());
  };
  add(Hello{.destination = 1,
            .sender_token = 2,
            .sender_address = {},
            .hello_bytes = 100,
            .membership = {5, 1, 2},
            .association = 9,
            .receiver_association = 10,
            .stream = 3});
  add(Welcome{.destination = 1,
              .receiver_token = 2,
              .datagram_bytes_max = 8972,
              .hello_bytes = 1452,
              .protection = Protection::kFull,
              .association = 10,
              .payload_bytes = 1408,
              .lanes = {{}, {}}});
  add(Refuse{.destination = 1, .reason = "no"});
  add(Start{.destination = 1, .payload_bytes = 1408, .unmarked = true});
  add(Started{.destination = 1, .posted = 3});
  Ack ack;
  ack.destination = 1;
  ack.paths = {{.path = 1}, {.path = 2}};
  for (const std::uint32_t number : {1u, 2u}) {
    StreamReport& stream = ack.add_stream();
    stream.stream = number;
    stream.completed = 5;
    stream.messages = {{.message = 5, .bitmap_words = 1}};
    stream.bitmap = {7};
  }
  add(ack);
  add(Probe{.destination = 1});
  ack.asks_pong = true;
  add(ack);
  ack.asks_pong = false;
  add(Pong{.destination = 1, .echo = 2, .unknown = {1, 3}});
  add(Close{.destination = 1});
  add(CloseAck{.destination = 1});
  add(Reset{.destination = 1, .reason = "gone"});
  add(SentOnce{.destination = 1, .message = 3, .message_bytes = 65536, .marks = {{1, 7}, {2, 9}}});
  add(Need{.destination = 1, .message = 3});
  add(Stop{.destination = 1, .message = 3, .lost_bytes = 1408, .holes = {{4, 1}}});
  add(Link{.destination = 1, .introduction = Buffer(20)});
  add(Permits{.destination = 1, .permits = {{.stream = 1, .slot = 2, .bytes = 65536}}});
  ack.placed = {{.path = 1, .name = 5}};
  add(ack);
  return seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzInput input(data, size);
  const auto mode = input.take<std::uint8_t>() % 3;
  if (mode == 2) {
    encode_ack_of(input);
    return 0;
  }
  const auto rest = input.take_bytes(size);
  Buffer datagram(rest.begin(), rest.end());
  if (mode == 1) put_right(datagram);
  decode_all(datagram);
  return 0;
}
