// The first twelve bytes of every frame, the size of its tag, and the list of frame types. Version
// 3: streams share an association, which numbers and acknowledges their packets.
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
  kData = 1,       // sender -> receiver: part of a message
  kHello = 2,      // sender -> listener: opens a connection; padded, to probe the path MTU
  kWelcome = 3,    // receiver -> sender: accepted, and the HELLO size that arrived
  kRefuse = 4,     // either direction: incompatible, with both sides' values
  kStart = 5,      // sender -> receiver: the agreed payload size
  kStarted = 6,    // receiver -> sender
  kAck = 7,        // receiver -> sender: selective acknowledgement, window, posted receives
  kProbe = 8,      // sender -> receiver: requests an immediate ACK
  kPing = 9,       // receiver -> sender: an ACK that requests a PONG
  kPong = 10,      // sender -> receiver: a sign of life
  kClose = 11,     // either direction: orderly end; has the number of completed messages
  kCloseAck = 12,  // answers kClose
  kReset = 13,     // either direction: the connection failed, with the reason
  // Bounded loss (loss_frame.h).
  kSentOnce = 14,  // sender -> receiver: every packet of the message has been sent once
  kNeed = 15,      // receiver -> sender: what is missing must be sent again
  kStop = 16,      // receiver -> sender: complete within budget, send no more
  // dlcp doctor --peer: without a connection.
  kEchoRequest = 17,
  kEchoReply = 18,
  // Messages whose packets a card places (placed_frame.h).
  kLink = 19,     // either direction: joins the queue pairs of both ends
  kPermits = 20,  // receiver -> sender: where the sender may write
};

struct FrameHead {
  std::uint8_t version = kWireVersion;
  FrameType type = FrameType::kData;
  std::uint8_t flags = 0;         // of data: see data_header.h; otherwise the path that the sender
                                  // chose
  std::uint64_t destination = 0;  // token of the addressed connection or listener
};

// nullopt if shorter than a head, with another magic, or of an unknown type in this version.
std::optional<FrameHead> decode_head(std::span<const std::byte> datagram);

}  // namespace dlcp::wire
