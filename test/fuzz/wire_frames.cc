// Every decoder of wire/, on raw bytes and on bytes whose head and checksum have been put right.
// What decodes must encode to something that decodes to the same, and what is encoded must decode
// to what it was made of.
#include <tuple>

#include "fuzz_input.h"
#include "util/crc32c.h"
#include "wire/control_frame.h"
#include "wire/data_header.h"
#include "wire/loss_frame.h"

using namespace dlcp;
using namespace dlcp::wire;
using dlcp::test::FuzzInput;
using dlcp::test::require;

namespace {

using Bytes = std::span<const std::byte>;

auto fields(const Hello& f) {
  return std::tie(f.destination, f.sender_token, f.sender_address, f.datagram_bytes_max,
                  f.hello_bytes, f.paths, f.checksum, f.features, f.echo, f.plugin_version);
}
auto fields(const Welcome& f) {
  return std::tie(f.destination, f.receiver_token, f.datagram_bytes_max, f.hello_bytes, f.checksum,
                  f.features, f.echo, f.plugin_version);
}
auto fields(const Refuse& f) {
  return std::tie(f.destination, f.wire_version, f.reason);
}
auto fields(const Start& f) {
  return std::tie(f.destination, f.payload_bytes, f.checksum);
}
auto fields(const Started& f) {
  return std::tie(f.destination, f.posted, f.window_packets, f.window_epoch);
}
auto fields(const Probe& f) {
  return std::tie(f.destination, f.echo, f.path, f.backlog);
}
auto fields(const Ping& f) {
  return std::tie(f.destination, f.echo);
}
auto fields(const Pong& f) {
  return std::tie(f.destination, f.echo);
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

bool same(const Ack& a, const Ack& b) {
  const auto head = [](const Ack& f) {
    return std::tie(f.destination, f.completed, f.posted, f.window_packets, f.window_epoch,
                    f.probe_echo, f.answers_probe, f.duplicates);
  };
  const auto path = [](const PathReport& x, const PathReport& y) {
    return std::tie(x.path, x.ce_marks, x.highest_sequence, x.echo, x.held) ==
           std::tie(y.path, y.ce_marks, y.highest_sequence, y.echo, y.held);
  };
  const auto message = [](const MessageReport& x, const MessageReport& y) {
    return std::tie(x.message, x.first_missing, x.bitmap_words) ==
           std::tie(y.message, y.first_missing, y.bitmap_words);
  };
  return head(a) == head(b) && a.bitmap == b.bitmap &&
         std::equal(a.paths.begin(), a.paths.end(), b.paths.begin(), b.paths.end(), path) &&
         std::equal(a.messages.begin(), a.messages.end(), b.messages.begin(), b.messages.end(),
                    message);
}

// Padding of a HELLO is bounded by what a datagram can carry, before anybody encodes it.
bool encodable(const Hello& hello) {
  return hello.hello_bytes <= 65'507;
}
template <class Frame>
bool encodable(const Frame&) {
  return true;
}

template <class Frame>
void round_trip(Bytes datagram, std::optional<Frame> (*decode)(Bytes)) {
  const auto first = decode(datagram);
  if (!first || !encodable(*first)) return;
  Buffer encoded;
  encode(*first, encoded);
  const auto second = decode(encoded);
  require(second.has_value(), "what was encoded decodes");
  require(fields(*first) == fields(*second), "decode, encode, decode gives the same fields");
  Buffer again;
  encode(*second, again);
  require(encoded == again, "encoding is stable");
}

void round_trip_ack(Bytes datagram) {
  Ack first;
  if (!decode_ack(datagram, first)) return;
  Buffer encoded;
  encode(first, encoded);
  require(encoded.size() == encoded_bytes(first), "encoded_bytes tells an ACK's size");
  Ack second;
  require(decode_ack(encoded, second), "an encoded ACK decodes");
  require(same(first, second), "an ACK keeps its fields");
}

void round_trip_data(Bytes datagram) {
  const auto first = decode_data(datagram);
  if (!first) return;
  const bool intact = payload_intact(datagram, *first);
  require(first->payload.size() <= datagram.size() - kDataHeaderBytes, "payload within datagram");
  std::array<std::byte, kDataOverheadBytes> head;
  const std::size_t size = encode_data(first->header, first->payload, head);
  Buffer encoded(head.begin(), head.begin() + size);
  encoded.insert(encoded.end(), first->payload.begin(), first->payload.end());
  const auto second = decode_data(encoded);
  require(second.has_value(), "an encoded data packet decodes");
  require(payload_intact(encoded, *second), "an encoded payload is intact");
  require(second->payload.size() == first->payload.size(), "the payload keeps its size");
  if (intact && (datagram[3] & std::byte{0xf8}) == std::byte{0}) {
    require(std::equal(encoded.begin(), encoded.end(), datagram.begin(), datagram.end()),
            "a data packet encodes to the bytes it came from");
  }
}

void decode_all(Bytes datagram) {
  (void)decode_head(datagram);
  round_trip_data(datagram);
  round_trip_ack(datagram);
  round_trip(datagram, decode_hello);
  round_trip(datagram, decode_welcome);
  round_trip(datagram, decode_refuse);
  round_trip(datagram, decode_start);
  round_trip(datagram, decode_started);
  round_trip(datagram, decode_probe);
  round_trip(datagram, decode_ping);
  round_trip(datagram, decode_pong);
  round_trip(datagram, decode_close);
  round_trip(datagram, decode_close_ack);
  round_trip(datagram, decode_reset);
  round_trip(datagram, decode_sent_once);
  round_trip(datagram, decode_need);
  round_trip(datagram, decode_stop);
}

void store_crc(std::span<std::byte> at, std::uint32_t crc) {
  for (std::size_t i = 0; i < 4; ++i)
    at[i] = static_cast<std::byte>(crc >> (8 * i));
}

// Head and checksum as they must be, so that the decoder gets to the fields.
void put_right(Buffer& datagram) {
  if (datagram.size() < kFrameHeadBytes + 4) return;
  datagram[0] = std::byte{kMagic};
  datagram[1] = std::byte{kWireVersion};
  datagram[2] = static_cast<std::byte>(static_cast<unsigned>(datagram[2]) % 18 + 1);
  if (datagram[2] != static_cast<std::byte>(FrameType::kData)) {
    const auto covered = std::span(datagram).first(datagram.size() - 4);
    store_crc(std::span(datagram).last(4), crc32c(covered));
    return;
  }
  if (datagram.size() < kDataOverheadBytes) return;
  datagram[33] = static_cast<std::byte>(static_cast<unsigned>(datagram[33]) % kTrafficClassCount);
  store_crc(std::span(datagram).subspan(36, 4), crc32c(std::span(datagram).first(36)));
  store_crc(std::span(datagram).subspan(40, 4), crc32c(std::span(datagram).subspan(44)));
}

void encode_ack_of(FuzzInput& input) {
  Ack ack;
  ack.destination = input.take<std::uint64_t>();
  ack.completed = input.take<std::uint32_t>();
  ack.posted = input.take<std::uint32_t>();
  ack.window_packets = input.take<std::uint32_t>();
  ack.window_epoch = input.take<std::uint8_t>();
  ack.answers_probe = input.take<std::uint8_t>() % 2 == 1;
  ack.probe_echo = input.take<std::uint32_t>();
  ack.duplicates = input.take<std::uint32_t>();
  const std::size_t paths = input.below(256);
  const std::size_t messages = input.below(32);
  for (std::size_t i = 0; i < paths; ++i) {
    ack.paths.push_back({input.take<std::uint8_t>(), input.take<std::uint8_t>(),
                         input.take<std::uint32_t>(), input.take<std::uint32_t>(),
                         input.take<std::uint32_t>()});
  }
  for (std::size_t i = 0; i < messages; ++i) {
    const auto words = static_cast<std::uint16_t>(input.below(16));
    ack.messages.push_back({input.take<std::uint32_t>(), input.take<std::uint32_t>(), words});
    for (std::size_t w = 0; w < words; ++w)
      ack.bitmap.push_back(input.take<std::uint64_t>());
  }
  Buffer encoded;
  encode(ack, encoded);
  Ack decoded;
  require(decode_ack(encoded, decoded) && same(ack, decoded), "an ACK survives the wire");
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds;
  const auto add = [&](const auto& frame) {
    Buffer encoded;
    encode(frame, encoded);
    seeds.emplace_back("\1");
    seeds.back().append(reinterpret_cast<const char*>(encoded.data()), encoded.size());
  };
  add(Hello{.destination = 1,
            .sender_token = 2,
            .sender_address = {},
            .datagram_bytes_max = 1472,
            .hello_bytes = 100,
            .paths = 4,
            .plugin_version = "0.1.0"});
  add(Welcome{.destination = 1, .receiver_token = 2, .plugin_version = "0.1.0"});
  add(Refuse{.destination = 1, .reason = "no"});
  add(Start{.destination = 1, .payload_bytes = 1408});
  add(Started{.destination = 1, .posted = 3});
  add(Ack{.destination = 1,
          .completed = 5,
          .paths = {{.path = 1}, {.path = 2}},
          .messages = {{.message = 5, .bitmap_words = 1}},
          .bitmap = {7}});
  add(Probe{.destination = 1});
  add(Ping{.destination = 1});
  add(Pong{.destination = 1});
  add(Close{.destination = 1});
  add(CloseAck{.destination = 1});
  add(Reset{.destination = 1, .reason = "gone"});
  add(SentOnce{.destination = 1, .message = 3, .message_bytes = 65536, .marks = {{1, 7}, {2, 9}}});
  add(Need{.destination = 1, .message = 3});
  add(Stop{.destination = 1, .message = 3, .lost_bytes = 1408, .holes = {{4, 1}}});
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
