// Limits how many of the senders to one host transmit at full rate: the kServed that began first.
// Senders that are served equally finish together. In an all-to-all exchange they then meet again
// at the next receiver, and in the end most receivers are idle. (Receivers of Homa, SIGCOMM 2018,
// also serve a few senders at a time, the shortest transfers first; here lengths are equal, and
// later messages are not known.)
#pragma once

#include <cstddef>
#include <vector>

#include "util/time.h"

namespace dlcp::core {

// The place of one sender in the queue.
struct Turn {
  bool in_line = false;
  Time heard{};  // time of its last data
};

class Turns {
 public:
  // Senders served at a time. A single one may not keep the host's link busy, because it also sends
  // elsewhere.
  static constexpr std::size_t kServed = 4;
  // A sender without data for this time does not count as served, because it waits for something
  // else. On links so slow that packets are further apart, every sender has a turn. It keeps its
  // place until it loses its credit (credit_pool).
  static constexpr Duration kSilent = std::chrono::microseconds(50);
  // Data of a message arrived. The sender stays in the queue until leave(): its message has ended,
  // or the connection has.
  void on_data(Time now, Turn& turn);
  void leave(Turn& turn);
  // Whether the sender is among those served; a sender outside the queue is judged as if it were
  // last.
  bool has(const Turn& turn) const;

 private:
  std::vector<Turn*> line_;
  Time now_{};  // time of the last data
};

}  // namespace dlcp::core
