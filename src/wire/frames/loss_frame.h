// The three frames of bounded loss, by which both ends agree that a licensed message is complete.
// Layout as in control_frame.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "wire/frames/control_frame.h"

namespace dlcp::wire {

// The last packet of a message on a path, without retransmissions.
struct PathMark {
  PathIndex path = 0;
  std::uint32_t sequence = 0;
  friend bool operator==(const PathMark&, const PathMark&) = default;
};

// Sender -> receiver: every packet of the message has been sent once. It follows the message's last
// packet on `path`, in the message's switch queue and not with the control frames: after its
// arrival no packet of the message is in flight on that path.
struct SentOnce {
  static constexpr FrameType kType = FrameType::kSentOnce;
  std::uint64_t destination = 0;
  std::uint32_t message = 0;
  std::uint32_t message_bytes = 0;
  std::uint32_t echo = 0;  // send time; NEED returns it
  PathIndex path = 0;
  bool urgent = false;          // the message uses the classes of the urgent queue, not the bulk
                                // queue
  std::vector<PathMark> marks;  // every path that the message used
};

// Receiver -> sender: this message must arrive whole; the chunks that the accompanying ACK does not
// report must be sent again.
struct Need {
  static constexpr FrameType kType = FrameType::kNeed;
  std::uint64_t destination = 0;
  std::uint32_t message = 0;
  std::uint32_t echo = 0;  // of the SENT_ONCE that led to the decision
  PathIndex path = 0;      // likewise
};

// Successive packets of a message that never arrived.
struct Hole {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  friend bool operator==(const Hole&, const Hole&) = default;
};

// Receiver -> sender: the message is complete within budget; send no more of it. ACKs report it,
// too.
struct Stop {
  static constexpr FrameType kType = FrameType::kStop;
  std::uint64_t destination = 0;
  std::uint32_t message = 0;
  std::uint32_t lost_bytes = 0;
  std::vector<Hole> holes;  // as many as fit: the sender has their classes
};

// Number of holes that fit into a STOP of at most `bytes`.
std::size_t holes_max(std::size_t bytes);

template <>
void encode(const SentOnce&, Buffer& out);
template <>
void encode(const Need&, Buffer& out);
template <>
void encode(const Stop&, Buffer& out);

template <>
std::optional<SentOnce> decode(std::span<const std::byte> datagram);
template <>
std::optional<Need> decode(std::span<const std::byte> datagram);
template <>
std::optional<Stop> decode(std::span<const std::byte> datagram);

}  // namespace dlcp::wire
