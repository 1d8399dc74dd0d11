// The two frames of `dlcp doctor`: a probe of the path between two hosts and its answer. They
// belong to no connection; the destination field of the head carries a number that the prober drew
// for the run. Layout as in control_frame.h, with zero padding, no number, and a tag under a key
// that everybody knows: a checksum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "wire/control_frame.h"

namespace dlcp::wire {

// Both frames are at least this long, so that no answer is longer than what asked for it.
inline constexpr std::size_t kEchoFrameBytesMin = 64;

// Data travels between UDP ports from here on, so probes do too.
inline constexpr std::uint16_t kEchoPortMin = 49152;

struct EchoRequest {
  std::uint64_t session = 0;
  std::uint32_t sequence = 0;
  std::uint32_t frame_bytes = kEchoFrameBytesMin;  // of this frame; encode() pads to it
  std::uint32_t reply_bytes = kEchoFrameBytesMin;  // wanted for the answer, at most frame_bytes
  std::uint64_t sent_at_ns = 0;                    // by the prober's clock; comes back as it is
  std::uint16_t path = 0;                          // 0..255: the prober's source port, by index
  std::uint8_t tos = 0;  // TOS or traffic-class byte this was sent with, wanted for the answer too
  // Not 0, at least kEchoPortMin: besides, a second answer is wanted to this UDP port of the
  // prober, from a port that the prober has never sent to. Frames that ask for it bring the bytes
  // of both answers.
  std::uint16_t call_port = 0;
};

struct EchoReply {
  std::uint64_t session = 0;
  std::uint32_t sequence = 0;
  std::uint32_t frame_bytes = kEchoFrameBytesMin;
  std::uint32_t requests_seen = 0;  // of this session and path so far, this one included
  std::uint64_t sent_at_ns = 0;
  std::uint16_t path = 0;
  std::uint8_t tos_sent = 0;    // as the request says
  std::uint8_t tos_seen = 0;    // as it arrived
  std::uint16_t data_port = 0;  // of the listener, for probes of this path
};

void encode(const EchoRequest&, Buffer& out);
void encode(const EchoReply&, Buffer& out);

// nullopt unless the frame is intact, of the length it states, and asks for no more than it brings.
std::optional<EchoRequest> decode_echo_request(std::span<const std::byte> datagram);
std::optional<EchoReply> decode_echo_reply(std::span<const std::byte> datagram);

}  // namespace dlcp::wire
