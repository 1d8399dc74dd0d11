#include "core/liveness/departed.h"

#include <algorithm>
#include <utility>

namespace dlcp::core {
namespace {

// With a loss of 20% in both directions a try fails with probability 0.36: 24 tries give 1e-11.
constexpr unsigned kCloseTries = 32;
constexpr unsigned kResetTries = 4;
constexpr Duration kTryAgain = 6ms;

unsigned tries(Departed::Kind kind) {
  if (kind == Departed::Kind::kConfirmed) return 0;
  return kind == Departed::Kind::kClosed ? kCloseTries : kResetTries;
}

}  // namespace

Departed::Departed(Time now, End end, Duration keep, std::size_t paths)
    : end_(std::move(end)),
      keep_(keep),
      paths_(paths),
      expires_at_(now + keep),
      next_at_(now),
      tries_left_(tries(end_.kind)) {}

bool Departed::on_frame(Time now, wire::FrameType type) {
  switch (type) {
    case wire::FrameType::kReset:
      return true;
    case wire::FrameType::kCloseAck:
      tries_left_ = 0;
      return is_close();
    case wire::FrameType::kClose:
      if (!is_close()) break;
      tries_left_ = 0;  // both ends are closing, and neither waits for the other
      end_.kind = Kind::kConfirmed;
      close_ack_due_ = true;
      return false;
    default:
      break;
  }
  if (is_close()) expires_at_ = now + keep_;
  due_ = true;
  return false;
}

Time Departed::next_timeout() const {
  return tries_left_ > 0 ? std::min(next_at_, expires_at_) : expires_at_;
}

void Departed::on_timeout(Time now) {
  if (tries_left_ == 0 || now < next_at_) return;
  next_at_ = now + kTryAgain;
  if (std::exchange(due_, true)) return;  // the last one could not be sent yet
  --tries_left_;
}

void Departed::emit(FrameWriter& frames, wire::PathIndex path, wire::TxPacket& out) const {
  const auto& [kind, peer, reason, completed] = end_;
  switch (kind) {
    case Kind::kClosed:
    case Kind::kConfirmed:
      return frames.emit(wire::Close{peer.token, static_cast<std::uint32_t>(completed)}, path,
                         peer.address, out);
    case Kind::kReset:
      return frames.emit(wire::Reset{peer.token, reason}, path, peer.address, out);
    case Kind::kRefused:
      frames.emit(wire::Refuse{peer.token, wire::Refuse::Cause::kSettings, reason}, path,
                  peer.address, out);
      out.unmarked = path_ % 2 == 1;  // the network may drop packets with a DSCP or ECN
  }
}

std::size_t Departed::poll_transmit(FrameWriter& frames, std::span<wire::TxPacket> out) {
  std::size_t count = 0;
  const auto path = static_cast<wire::PathIndex>(path_ % paths_);
  if (close_ack_due_ && count < out.size()) {
    frames.emit(wire::CloseAck{end_.peer.token}, path, end_.peer.address, out[count++]);
    close_ack_due_ = false;
  }
  if (due_ && count < out.size()) {
    emit(frames, path, out[count++]);
    due_ = false;
    ++path_;
  }
  return count;
}

}  // namespace dlcp::core
