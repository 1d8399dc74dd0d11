#include "core/liveness/departed.h"

#include <algorithm>
#include <utility>

namespace dlcp::core {
namespace {

// With a loss of 20% in both directions a try fails with probability 0.36: 24 tries give 1e-11.
constexpr unsigned kCloseTries = 32;
constexpr unsigned kResetTries = 4;
constexpr Duration kTryAgain = 6ms;

}  // namespace

Departed::Departed(Time now, Kind kind, const Peer& peer, Duration keep, unsigned tries)
    : kind_(kind),
      peer_(peer),
      keep_(keep),
      expires_at_(now + keep),
      next_at_(now),
      tries_left_(tries) {}

Departed Departed::closed(Time now, const Peer& peer, std::uint64_t completed, Duration keep) {
  Departed departed(now, Kind::kClosed, peer, keep, kCloseTries);
  departed.completed_ = static_cast<std::uint32_t>(completed);
  return departed;
}

Departed Departed::confirmed(Time now, const Peer& peer, std::uint64_t completed, Duration keep) {
  Departed departed = closed(now, peer, completed, keep);
  departed.tries_left_ = 0;
  departed.peer_knows_ = true;
  return departed;
}

Departed Departed::reset(Time now, const Peer& peer, std::string reason, Duration keep) {
  Departed departed(now, Kind::kReset, peer, keep, kResetTries);
  departed.reason_ = std::move(reason);
  return departed;
}

Departed Departed::refused(Time now, const Peer& listener, std::string reason, Duration keep) {
  Departed departed = reset(now, listener, std::move(reason), keep);
  departed.kind_ = Kind::kRefused;
  return departed;
}

bool Departed::on_frame(Time now, wire::FrameType type) {
  switch (type) {
    case wire::FrameType::kReset:
      return true;
    case wire::FrameType::kCloseAck:
      tries_left_ = 0;
      return kind_ == Kind::kClosed;
    case wire::FrameType::kClose:
      if (kind_ == Kind::kClosed) {
        tries_left_ = 0;  // both ends are closing, and neither waits for the other
        close_ack_due_ = peer_knows_ = true;
        return false;
      }
      break;
    default:
      break;
  }
  if (kind_ == Kind::kClosed) expires_at_ = now + keep_;
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
  switch (kind_) {
    case Kind::kClosed:
      return frames.emit(wire::Close{peer_.token, completed_}, path, peer_.address, out);
    case Kind::kReset:
      return frames.emit(wire::Reset{peer_.token, reason_}, path, peer_.address, out);
    case Kind::kRefused:
      return frames.emit(wire::Refuse{peer_.token, wire::Refuse::Cause::kSettings, reason_}, path,
                         peer_.address, out);
  }
}

std::size_t Departed::poll_transmit(Time, FrameWriter& frames, std::size_t paths,
                                    std::span<wire::TxPacket> out) {
  std::size_t count = 0;
  const auto path = static_cast<wire::PathIndex>(path_ % paths);
  if (close_ack_due_ && count < out.size()) {
    frames.emit(wire::CloseAck{peer_.token}, path, peer_.address, out[count++]);
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
