// Shares the device's receive capacity (socket buffers) among its connections, so that all senders
// together never have more in flight than it holds: the receiver's lever against incast.
//
// A connection holds a small reserve for ever (at least one packet), and while data comes in an
// equal share of the rest. A window that shrinks counts at its old size until a data packet carries
// the new window's epoch. A sender gives its share up after kWindowLease without sending; the
// receiver takes it back after kWindowReclaim without data, and after kWindowSettled where it has
// told so already.
//
// Who has to wait for his turn (turns) is told a few packets, or one of a long message, even where
// the reserve is more. That stays his: who is far away may use it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/flow_control/turns.h"
#include "util/time.h"

namespace dlcp::core {

inline constexpr Duration kWindowLease = std::chrono::milliseconds(10);
inline constexpr Duration kWindowReclaim = std::chrono::milliseconds(25);
// Who was told his reserve when he had sent all, and has not been heard since, has heard it: he
// would have asked again. (What longer paths hold is in no buffer: send_window.)
inline constexpr Duration kWindowSettled = std::chrono::microseconds(250);

// One connection's part. Owned by the connection, accounted for by the pool.
struct Grant {
  std::uint32_t packet_bytes = 0;
  std::uint32_t reserve = 0;    // packets
  std::uint32_t window = 0;     // packets, as last told to the sender
  std::uint32_t committed = 0;  // packets the sender may believe in: max over unconfirmed windows
  std::uint16_t epoch = 0;
  bool active = false;
  bool rests = false;  // told the reserve, as its message is over
  bool in_long_message = false;
  Turn turn;
};

class CreditPool {
 public:
  // `reserve_limit_bytes`: more than that no connection needs in reserve (config.eager_bytes).
  CreditPool(std::size_t capacity_bytes, std::size_t reserve_limit_bytes)
      : capacity_(capacity_bytes), reserve_limit_(reserve_limit_bytes) {}

  void join(Grant& grant, std::uint32_t packet_bytes);
  void leave(Grant& grant);

  // A data packet came in, of a message of so many bytes, that was sent under the window numbered
  // `epoch`.
  void on_data(Time now, Grant& grant, std::uint16_t epoch, std::size_t message_bytes);
  // A message is over: it is another sender's turn, unless more has come by the next ACK.
  void on_message_end(Grant& grant) { turns_.leave(grant.turn); }
  // Brings the grant's window up to date, for the ACK being made.
  void refresh(Grant& grant);
  // When an active grant goes back to its reserve; kNever if it is not active.
  static Time reclaim_at(const Grant& grant) {
    if (!grant.active) return kNever;
    return grant.turn.heard + (grant.rests ? kWindowSettled : kWindowReclaim);
  }
  void reclaim(Grant& grant);

  std::size_t committed_bytes() const { return committed_; }
  std::size_t active() const { return active_; }
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
