// The queues of a port of a commodity switch: one for each SwitchQueue of the class table and one
// for all packets without a class. The first queue has strict priority; the others share by deficit
// round robin. Each queue has a limit in bytes, fixed or a share of the free switch buffer (dynamic
// threshold). It marks or drops early with a probability that grows with its length (WRED), and may
// cut packets that do not fit down to their header (trimming).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "simulate/network/discipline.h"
#include "simulate/network/packet_ring.h"
#include "util/rng.h"

namespace dlcp::simulate {

inline constexpr std::size_t kClassQueues = 5;

// The probability of an early mark or drop: 0 up to `from` bytes, `most` at `full`, 1 beyond.
struct Slope {
  std::size_t from = std::numeric_limits<std::size_t>::max();
  std::size_t full = std::numeric_limits<std::size_t>::max();
  double most = 1;

  double chance(std::size_t bytes) const {
    if (bytes <= from) return 0;
    if (bytes >= full) return bytes > full ? 1 : most;
    return most * static_cast<double>(bytes - from) / static_cast<double>(full - from);
  }
};

struct QueuePlan {
  std::size_t limit_bytes = std::size_t{256} << 10;
  Slope mark;
  std::array<Slope, 3> drop;  // of droppable packets, by drop precedence 1 .. 3
  std::uint32_t weight = 1;   // of the queues that are not strict
};

struct ClassPlan {
  std::array<QueuePlan, kClassQueues> queues;
  // Above 0, each queue is also limited to this multiple of the free switch buffer.
  double dynamic_alpha = 0;
  bool trims = false;
  std::uint32_t trimmed_bytes = 64;
  bool marks_at_departure = false;  // by the queue length when a packet leaves, not when it arrives
};

// Buffers as in commodity switches since 2020: a queue uses up to a quarter of the free buffer.
inline constexpr std::size_t kCommodityBuffer = 37'000'000;
inline ClassPlan commodity_plan() {
  ClassPlan plan;
  plan.dynamic_alpha = 0.25;
  for (QueuePlan& queue : plan.queues)
    queue.limit_bytes = kCommodityBuffer;
  return plan;
}

class ClassQueues final : public Discipline {
 public:
  // The plan and the buffer (null: none) must outlive this object.
  ClassQueues(const ClassPlan& plan, SharedBuffer* buffer, std::uint64_t seed)
      : plan_(plan), buffer_(buffer), rng_(seed) {}

  void admit(PacketPtr packet) override;
  PacketPtr next() override;
  std::size_t waiting_bytes() const override { return waiting_bytes_; }
  std::size_t waiting_bytes(SwitchQueue queue) const {
    return queues_[static_cast<std::size_t>(queue)].bytes;
  }
  // Bytes that have left a queue.
  std::uint64_t served_bytes(SwitchQueue queue) const {
    return queues_[static_cast<std::size_t>(queue)].served;
  }

 private:
  struct Queue {
    PacketRing packets;
    std::size_t bytes = 0;
    std::size_t deficit = 0;
    std::uint64_t served = 0;
  };

  bool has_room(std::size_t index, std::size_t bytes) const;
  bool dropped_early(const Packet& packet, std::size_t index);
  void mark(Packet& packet, std::size_t index, std::size_t held);
  PacketPtr pop(std::size_t index);
  std::size_t next_turn();

  const ClassPlan& plan_;
  SharedBuffer* buffer_;
  std::array<Queue, kClassQueues> queues_;
  std::size_t waiting_bytes_ = 0;
  std::size_t turn_ = 1;  // the weighted queue being served
  bool turn_has_quantum_ = false;
  Rng rng_;
};

}  // namespace dlcp::simulate
