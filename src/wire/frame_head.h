// The first twelve bytes of every frame, the eight it ends with or its header does, and the list of
// frame types. Version 3: streams share an association, which numbers and acknowledges their
// packets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "util/time.h"

namespace dlcp::wire {

inline constexpr std::uint8_t kMagic = 0xdc;
inline constexpr std::uint8_t kWireVersion = 3;
inline constexpr std::size_t kFrameHeadBytes = 12;
inline constexpr std::size_t kTagBytes = 8;  // SipHash-1-3, under a key of the connection

enum class FrameType : std::uint8_t {
  kData = 1,       // sender -> receiver: a piece of a message
  kHello = 2,      // sender -> listener: opens a connection; padded, to probe the path MTU
  kWelcome = 3,    // receiver -> sender: accepted, and which HELLO size got through
  kRefuse = 4,     // either way: cannot work together, with both sides' values
  kStart = 5,      // sender -> receiver: the payload size agreed on
  kStarted = 6,    // receiver -> sender
  kAck = 7,        // receiver -> sender: selective acknowledgement, window, posted receives
  kProbe = 8,      // sender -> receiver: answer with an ACK at once
  kPing = 9,       // receiver -> sender: are you there?
  kPong = 10,      // sender -> receiver
  kClose = 11,     // either way: no more; carries the number of messages completed
  kCloseAck = 12,  // answers kClose
  kReset = 13,     // either way: the connection failed, and why
  // Bounded loss (loss_frame.h).
  kSentOnce = 14,  // sender -> receiver: every packet of the message has been sent once
  kNeed = 15,      // receiver -> sender: what is missing must be sent again
  kStop = 16,      // receiver -> sender: complete within budget, send no more
  // dlcp doctor --peer: no connection involved.
  kEchoRequest = 17,
  kEchoReply = 18,
};

struct FrameHead {
  std::uint8_t version = kWireVersion;
  FrameType type = FrameType::kData;
  std::uint8_t flags = 0;         // of data see data_header.h; else the path its sender chose
  std::uint64_t destination = 0;  // token of the connection or listener addressed
};

// nullopt when shorter than a head, of another magic, or of an unknown type in our own version.
std::optional<FrameHead> decode_head(std::span<const std::byte> datagram);

}  // namespace dlcp::wire
