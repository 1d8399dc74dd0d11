// The receiver's account of losses, which limits them to the user's budget P, end to end and per
// rank, in contributions instead of bytes (README.md). In a ring the messages of a collective share
// a pool: a single message may use all of it, but may not lose more of its bytes than the largest
// budget would allow. In direct exchange the licence names the pool. The sender learns decisions
// from STOP and NEED.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/bounded_loss/licence.h"
#include "util/memory/ring_queue.h"

namespace dlcp::core {

class LossLedger {
 public:
  // Contributions that one receiving rank may lose of the collective, rounded down. `message_bytes`
  // is used if the licence does not have the length of the result.
  static std::uint64_t budget(const Licence& licence, std::uint64_t message_bytes);

  // A message was posted under this licence. Collectives arrive in ascending order, and no pool is
  // opened twice. `bytes`: the message's length at the sender, its maximum at the receiver.
  void open(const Licence& licence, std::uint64_t bytes);
  // True if the message may lose `lost_bytes` of its `message_bytes`; the pool is then charged.
  bool reserve(const Licence& licence, std::uint64_t lost_bytes, std::uint64_t message_bytes);

 private:
  struct Pool {
    Licence licence;  // of its first message; the others must agree in everything but the stage
    std::uint64_t budget = 0;
    std::uint64_t spent = 0;
  };
  Pool* find(std::uint64_t collective);

  std::uint64_t newest_ = 0;
  RingQueue<Pool> pools_;  // ascending
};

}  // namespace dlcp::core
