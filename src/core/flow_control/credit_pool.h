// Divides the device's receive capacity (socket buffers) among its associations, so that all
// senders together do not have more in flight than the buffers hold. This limits incast. An
// association has a small reserve, and an equal share of the rest while it receives data. After a
// window is reduced, its old size counts until a data packet carries the epoch of the new window.
//
// Only the senders that began first transmit at full rate. Senders that are served equally finish
// together. In an all-to-all exchange they then meet again at the next receiver, and in the end
// most receivers are idle. (Receivers of Homa, SIGCOMM 2018, also serve a few senders at a time,
// the shortest transfers first; here lengths are equal, and later messages are not known.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "util/time.h"

namespace dlcp::core {

inline constexpr Duration kWindowLease = std::chrono::milliseconds(10);
inline constexpr Duration kWindowReclaim = std::chrono::milliseconds(25);
// A sender that was reduced to its reserve after its last message, and has sent nothing for this
// time, has received the reduction; otherwise it would have sent more. (Packets in flight on longer
// paths occupy no buffer: send_window.)
inline constexpr Duration kWindowSettled = std::chrono::microseconds(250);

// The share of one association, which owns this object; the pool keeps the accounts.
struct Grant {
  std::uint32_t packet_bytes = 0;
  std::uint32_t reserve = 0;    // packets
  std::uint32_t window = 0;     // packets, as last announced to the sender
  std::uint32_t committed = 0;  // packets: maximum over the windows that the sender may still use
  std::uint16_t epoch = 0;
  bool active = false;
  bool rests = false;  // reduced to the reserve, because its message is complete
  bool in_long_message = false;
  bool in_line = false;  // its message has begun
  Time heard{};          // time of its last data
};

class CreditPool {
 public:
  // Senders served at a time. A single one may not keep the host's link busy, because it also sends
  // elsewhere.
  static constexpr std::size_t kServed = 4;
  // A sender without data for this time does not count as served, because it waits for something
  // else. On links so slow that packets are further apart, every sender is served. It keeps its
  // place in the line until it loses its credit.
  static constexpr Duration kSilent = std::chrono::microseconds(50);

  // `reserve_limit_bytes`: the largest reserve that an association needs (config.eager_bytes).
  CreditPool(std::size_t capacity_bytes, std::size_t reserve_limit_bytes)
      : capacity_(capacity_bytes), reserve_limit_(reserve_limit_bytes) {}

  void join(Grant& grant, std::uint32_t packet_bytes);
  void leave(Grant& grant);

  // A data packet of a message of `message_bytes` arrived; it was sent under the window numbered
  // `epoch`.
  void on_data(Time now, Grant& grant, std::uint16_t epoch, std::size_t message_bytes);
  // A message is complete: the sender leaves the line, and goes to its end if more data arrives.
  void on_message_end(Grant& grant);
  // Whether the sender is one of the kServed that began first; a sender outside the line is judged
  // as if it were last.
  bool is_served(const Grant& grant) const;
  // Brings the grant's window up to date for the ACK that is being made.
  void refresh(Grant& grant);
  // When an active grant falls back to its reserve; kNever if it is not active.
  static Time reclaim_at(const Grant& grant) {
    if (!grant.active) return kNever;
    return grant.heard + (grant.rests ? kWindowSettled : kWindowReclaim);
  }
  void reclaim(Grant& grant);

 private:
  void set_committed(Grant& grant, std::uint32_t packets);

  std::size_t capacity_;
  std::size_t reserve_limit_;
  std::size_t associations_ = 0;
  std::size_t active_ = 0;
  std::size_t reserved_ = 0;        // bytes
  std::size_t committed_ = 0;       // bytes
  std::vector<const Grant*> line_;  // senders in the order in which their messages began
  Time newest_{};                   // time of the last data
};

}  // namespace dlcp::core
