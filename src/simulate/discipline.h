// What an egress port does with packets that have to wait: which it takes, marks, cuts or drops,
// and which goes next.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simulate/packet.h"

namespace dlcp::simulate {

struct QueueCounters {
  std::uint64_t dropped = 0;  // for want of room
  std::uint64_t early_dropped = 0;
  std::uint64_t trimmed = 0;
  std::uint64_t marked = 0;
  std::size_t deepest_bytes = 0;
};

// Memory that all ports of a switch take from.
struct SharedBuffer {
  std::size_t total_bytes = 0;
  std::size_t used_bytes = 0;
  std::size_t free_bytes() const { return used_bytes < total_bytes ? total_bytes - used_bytes : 0; }
};

class Discipline {
 public:
  virtual ~Discipline() = default;
  // Takes the packet, or drops it or another one.
  virtual void admit(PacketPtr packet) = 0;
  // Null when nothing waits.
  virtual PacketPtr next() = 0;
  virtual std::size_t waiting_bytes() const = 0;
  // Paused: next() gives of the strict queue alone, if there is one.
  void set_paused(bool paused) { paused_ = paused; }
  bool idle() const { return waiting_bytes() == 0; }
  const QueueCounters& counters() const { return counters_; }

 protected:
  QueueCounters counters_;
  bool paused_ = false;
};

}  // namespace dlcp::simulate
