// Divides the device's receive capacity (socket buffers) among its connections, so that all senders
// together do not have more in flight than the buffers hold. This limits incast. A connection has a
// small reserve, and an equal share of the rest while it receives data. After a window is reduced,
// its old size counts until a data packet carries the epoch of the new window.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/flow_control/turns.h"
#include "util/time.h"

namespace dlcp::core {

inline constexpr Duration kWindowLease = std::chrono::milliseconds(10);
inline constexpr Duration kWindowReclaim = std::chrono::milliseconds(25);
// A sender that was reduced to its reserve after its last message, and has sent nothing for this
// time, has received the reduction; otherwise it would have sent more. (Packets in flight on longer
// paths occupy no buffer: send_window.)
inline constexpr Duration kWindowSettled = std::chrono::microseconds(250);

// The share of one connection, which owns this object; the pool keeps the accounts.
struct Grant {
  std::uint32_t packet_bytes = 0;
  std::uint32_t reserve = 0;    // packets
  std::uint32_t window = 0;     // packets, as last announced to the sender
  std::uint32_t committed = 0;  // packets: maximum over the windows that the sender may still use
  std::uint16_t epoch = 0;
  bool active = false;
  bool rests = false;  // reduced to the reserve, because its message is complete
  bool in_long_message = false;
  Turn turn;
};

class CreditPool {
 public:
  // `reserve_limit_bytes`: the largest reserve that a connection needs (config.eager_bytes).
  CreditPool(std::size_t capacity_bytes, std::size_t reserve_limit_bytes)
      : capacity_(capacity_bytes), reserve_limit_(reserve_limit_bytes) {}

  void join(Grant& grant, std::uint32_t packet_bytes);
  void leave(Grant& grant);

  // A data packet of a message of `message_bytes` arrived; it was sent under the window numbered
  // `epoch`.
  void on_data(Time now, Grant& grant, std::uint16_t epoch, std::size_t message_bytes);
  // A message is complete: the next sender gets the turn, unless more data arrives before the next
  // ACK.
  void on_message_end(Grant& grant) { turns_.leave(grant.turn); }
  // Brings the grant's window up to date for the ACK that is being made.
  void refresh(Grant& grant);
  // When an active grant falls back to its reserve; kNever if it is not active.
  static Time reclaim_at(const Grant& grant) {
    if (!grant.active) return kNever;
    return grant.turn.heard + (grant.rests ? kWindowSettled : kWindowReclaim);
  }
  void reclaim(Grant& grant);

  std::size_t connections() const { return connections_; }

 private:
  void set_committed(Grant& grant, std::uint32_t packets);

  std::size_t capacity_;
  std::size_t reserve_limit_;
  std::size_t connections_ = 0;
  std::size_t active_ = 0;
  std::size_t reserved_ = 0;   // bytes
  std::size_t committed_ = 0;  // bytes
  Turns turns_;
};

}  // namespace dlcp::core
