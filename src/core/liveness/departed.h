// The record of a connection after its close or failure. It tells the peer how the connection
// ended, until the peer confirms or the time is over. It refers to no memory of the user.
#pragma once

#include <cstdint>
#include <string>

#include "core/channel/frame_writer.h"
#include "util/time.h"
#include "wire/frames/control_frame.h"
#include "wire/packet.h"

namespace dlcp::core {

class Departed {
 public:
  enum class Kind : std::uint8_t {
    kClosed,     // orderly: CLOSE until CLOSE_ACK; then answers for a while
    kConfirmed,  // the same, but the peer has sent CLOSE itself: only answers
    kReset,      // failed or aborted: RESET a few times, and to later frames
    kRefused,    // never opened: REFUSE a few times, to a listener
  };
  struct Peer {
    std::uint64_t token = 0;
    wire::EndpointAddress address;
    std::uint32_t stream = 0;  // its number in the association
  };
  template <class Stream>
  static Peer peer_of(const Stream& stream) {
    return {stream.peer_token(), stream.peer_address(), stream.number()};
  }
  struct End {
    Kind kind = Kind::kClosed;
    Peer peer;
    std::string reason{};         // of RESET and REFUSE
    std::uint64_t completed = 0;  // messages, of CLOSE
  };

  Departed(Time now, End end, Duration keep, std::size_t paths);

  const Peer& peer() const { return end_.peer; }
  // Handles any frame of the peer. True if the end is settled and the record can be removed.
  bool on_frame(Time now, wire::FrameType type);
  // The peer may have missed how the connection ended: its PROBE is for the association, or its
  // PING names the stream. It is told, unless it has closed the connection itself.
  void on_probe() { due_ = due_ || end_.kind != Kind::kConfirmed; }
  void on_timeout(Time now);
  Time next_timeout() const;
  bool expired(Time now) const { return now >= expires_at_; }
  bool awaits_confirmation() const { return is_close() && tries_left_ > 0; }
  bool has_resets_to_send() const { return !is_close() && tries_left_ > 0; }

  std::size_t poll_transmit(FrameWriter& frames, std::span<wire::TxPacket> out);

 private:
  bool is_close() const { return end_.kind == Kind::kClosed || end_.kind == Kind::kConfirmed; }
  void emit(FrameWriter& frames, wire::PathIndex path, wire::TxPacket& out) const;

  End end_;
  Duration keep_;
  std::size_t paths_;
  Time expires_at_;
  Time next_at_;
  unsigned tries_left_;
  bool due_ = false;
  bool close_ack_due_ = false;
  std::size_t path_ = 0;
};

}  // namespace dlcp::core
