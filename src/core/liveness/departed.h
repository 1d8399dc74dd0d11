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
    kClosed,   // orderly: CLOSE until CLOSE_ACK; then answers for a while
    kReset,    // failed or aborted: RESET a few times, and to later frames
    kRefused,  // never opened: REFUSE a few times, to a listener
  };
  struct Peer {
    std::uint64_t token = 0;
    wire::EndpointAddress address;
    std::uint32_t stream = 0;  // its number in the association
  };

  static Departed closed(Time now, const Peer& peer, std::uint64_t completed, Duration keep);
  // The peer has already sent CLOSE: only answers.
  static Departed confirmed(Time now, const Peer& peer, std::uint64_t completed, Duration keep);
  static Departed reset(Time now, const Peer& peer, std::string reason, Duration keep);
  static Departed refused(Time now, const Peer& listener, std::string reason, Duration keep);

  const Peer& peer() const { return peer_; }
  // Handles any frame of the peer. True if the end is settled and the record can be removed.
  bool on_frame(Time now, wire::FrameType type);
  // The peer may have missed how the connection ended: its PROBE is for the association, or its
  // PING names the stream. It is told, unless it has closed the connection itself.
  void on_probe() { due_ = due_ || !peer_knows_; }
  void on_timeout(Time now);
  Time next_timeout() const;
  bool expired(Time now) const { return now >= expires_at_; }
  bool awaits_confirmation() const { return kind_ == Kind::kClosed && tries_left_ > 0; }
  bool has_resets_to_send() const { return kind_ != Kind::kClosed && tries_left_ > 0; }

  std::size_t poll_transmit(Time now, FrameWriter& frames, std::size_t paths,
                            std::span<wire::TxPacket> out);

 private:
  Departed(Time now, Kind kind, const Peer& peer, Duration keep, unsigned tries);
  void emit(FrameWriter& frames, wire::PathIndex path, wire::TxPacket& out) const;

  Kind kind_;
  Peer peer_;
  std::uint32_t completed_ = 0;
  std::string reason_;
  Duration keep_;
  Time expires_at_;
  Time next_at_;
  unsigned tries_left_;
  bool due_ = false;
  bool close_ack_due_ = false;
  bool peer_knows_ = false;  // it has closed the connection itself
  std::size_t path_ = 0;
};

}  // namespace dlcp::core
