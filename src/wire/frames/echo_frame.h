// The two frames of `dlcp doctor`: a probe of the path between two hosts, and its answer. They
// belong to no connection; the destination field of the head contains a random number of the run.
// Layout as in control_frame.h, with zero padding, sequence number 0, and a tag under a public key,
// which is just a checksum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "wire/frames/control_frame.h"

namespace dlcp::wire {

// Minimum length of both frames, so that no answer is longer than its request.
inline constexpr std::size_t kEchoFrameBytesMin = 64;

// Data uses UDP ports from here on; probes do the same.
inline constexpr std::uint16_t kEchoPortMin = 49152;

struct EchoRequest {
  std::uint64_t session = 0;
  std::uint32_t sequence = 0;
  std::uint32_t frame_bytes = kEchoFrameBytesMin;  // of this frame; encode() pads to it
  std::uint32_t reply_bytes = kEchoFrameBytesMin;  // requested length of the answer, at most
                                                   // frame_bytes
  std::uint64_t sent_at_ns = 0;                    // by the prober's clock; returned unchanged
  std::uint16_t path = 0;                          // 0..255: index of the prober's source port
  std::uint8_t tos = 0;  // TOS or traffic-class byte of this frame; requested for the answer, too
  // Not 0 (then at least kEchoPortMin): requests a second answer to this UDP port of the prober,
  // from a port that the prober has never sent to. The request is then as long as both answers.
  std::uint16_t call_port = 0;
};

struct EchoReply {
  std::uint64_t session = 0;
  std::uint32_t sequence = 0;
  std::uint32_t frame_bytes = kEchoFrameBytesMin;
  std::uint32_t requests_seen = 0;  // of this session and path so far, this one included
  std::uint64_t sent_at_ns = 0;
  std::uint16_t path = 0;
  std::uint8_t tos_sent = 0;    // as stated in the request
  std::uint8_t tos_seen = 0;    // as it arrived
  std::uint16_t data_port = 0;  // of the listener, for probes of this path
};

void encode(const EchoRequest&, Buffer& out);
void encode(const EchoReply&, Buffer& out);

// nullopt unless the frame is intact, has the stated length, and requests no more bytes than it
// has.
std::optional<EchoRequest> decode_echo_request(std::span<const std::byte> datagram);
std::optional<EchoReply> decode_echo_reply(std::span<const std::byte> datagram);

}  // namespace dlcp::wire
