// Holds the losses of one connection to the user's budget P, end to end and per rank.
//
// A result of R bytes is the sum of N ranks' contributions: R x N in all. A byte lost in stage s
// (0-based) of a ring takes s + 1 of them. Each of the H ranks of the ring that receive over the
// network may take away P x R x N / H per collective and channel, so all together at most P of
// every rank's result, wherever the losses fall. The pool is common to the collective's messages; a
// message may empty it, but may not lose more than kMessageShareMax of itself.
//
// In direct exchange the contributions to one owner have a pool in common, over all connections,
// engines and calls of a tensor: P of what its part of the result is made of. A single message
// would hardly ever have a packet to give away.
//
// The receiver's ledger decides. The sender of a ring keeps another by what STOP tells, so that it
// can repair at once what the receiver will not go without.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/bounded_loss/licence.h"
#include "util/ring_queue.h"

namespace dlcp::core {

class LossLedger {
 public:
  static constexpr std::uint64_t kMessageShareMax = 4;  // a quarter

  // Contributions that one receiving rank may lose of the collective, rounded down. `message_bytes`
  // count where the licence does not know the result's.
  static std::uint64_t budget(const Licence& licence, std::uint64_t message_bytes);

  // A message was posted under this licence. Collectives come in ascending order; a pool that was
  // left behind is never opened again. `bytes`: its own at the sender, at the receiver at most.
  void open(const Licence& licence, std::uint64_t bytes);
  // True when the message may go without `lost_bytes` of its `message_bytes`: they are then spent.
  bool reserve(const Licence& licence, std::uint64_t lost_bytes, std::uint64_t message_bytes);

  // Contributions, of a collective; 0 of a forgotten one.
  std::uint64_t spent(std::uint64_t collective) const;
  std::uint64_t left(std::uint64_t collective) const;
  // Of the newest collective; 0 before there is one.
  double hop_share() const { return hop_share_; }

 private:
  struct Pool {
    Licence licence;  // of its first message; the others must agree in all but the stage
    std::uint64_t budget = 0;
    std::uint64_t spent = 0;
  };
  const Pool* find(std::uint64_t collective) const;

  std::uint64_t newest_ = 0;
  double hop_share_ = 0;
  RingQueue<Pool> pools_;  // ascending
};

}  // namespace dlcp::core
