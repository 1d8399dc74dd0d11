// The three frames of bounded loss: how both ends agree that a licensed message is as complete as
// it will get. Layout as in control_frame.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "wire/control_frame.h"

namespace dlcp::wire {

// The last packet that a message sent on a path, retransmissions left out.
struct PathMark {
  PathIndex path = 0;
  std::uint32_t sequence = 0;
  friend bool operator==(const PathMark&, const PathMark&) = default;
};

// Sender -> receiver: every packet of the message has been sent once. It travels behind the
// message's last packet on `path`, in the message's switch queue and not with the control frames:
// on that path nothing of the message is on its way any more once this has come.
struct SentOnce {
  static constexpr FrameType kType = FrameType::kSentOnce;
  std::uint64_t destination = 0;
  std::uint32_t message = 0;
  std::uint32_t message_bytes = 0;
  std::uint32_t echo = 0;  // send time; NEED brings it back
  PathIndex path = 0;
  bool urgent = false;          // the message's classes are those of the urgent queue, not the bulk
  std::vector<PathMark> marks;  // every path that the message used
};

// Receiver -> sender: this message must arrive whole; what the ACK beside it does not report is to
// be sent again.
struct Need {
  static constexpr FrameType kType = FrameType::kNeed;
  std::uint64_t destination = 0;
  std::uint32_t message = 0;
  std::uint32_t echo = 0;  // of the SENT_ONCE that settled it
  PathIndex path = 0;      // likewise
};

// Packets of a message that never came, one after the other.
struct Hole {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  friend bool operator==(const Hole&, const Hole&) = default;
};

// Receiver -> sender: complete within budget, send no more of it. The ACKs say so too.
struct Stop {
  static constexpr FrameType kType = FrameType::kStop;
  std::uint64_t destination = 0;
  std::uint32_t message = 0;
  std::uint32_t lost_bytes = 0;
  std::vector<Hole> holes;  // as many as fit: the sender knows what they were worth
};

// Holes that a STOP of at most `bytes` can name.
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
