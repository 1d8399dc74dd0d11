// The queueing discipline of an egress port: accepts, marks, trims or drops packets, and chooses
// the next one to send.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simulate/network/packet.h"

namespace dlcp::simulate {

struct QueueCounters {
  std::uint64_t dropped = 0;  // no room
  std::uint64_t early_dropped = 0;
  std::uint64_t trimmed = 0;
  std::uint64_t marked = 0;
  std::size_t deepest_bytes = 0;
};

// Memory that all ports of a switch share.
struct SharedBuffer {
  std::size_t total_bytes = 0;
  std::size_t used_bytes = 0;
  std::size_t free_bytes() const { return used_bytes < total_bytes ? total_bytes - used_bytes : 0; }
};

class Discipline {
 public:
  virtual ~Discipline() = default;
  // Queues the packet, or drops it or another one.
  virtual void admit(PacketPtr packet) = 0;
  // Null if no packet waits.
  virtual PacketPtr next() = 0;
  virtual std::size_t waiting_bytes() const = 0;
  // While paused, next() returns only packets of the strict queue, if there is one.
  void set_paused(bool paused) { paused_ = paused; }
  bool idle() const { return waiting_bytes() == 0; }
  const QueueCounters& counters() const { return counters_; }

 protected:
  QueueCounters counters_;
  bool paused_ = false;
};

}  // namespace dlcp::simulate
