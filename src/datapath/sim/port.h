// An egress port: one queue per SwitchQueue of the class table (strict high first, the others by
// deficit round robin), each limited in bytes, with ECN marking and early drop above a threshold,
// and the link that the port feeds. A host's NIC is a port that does not look at classes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>

#include "datapath/sim/event_queue.h"
#include "datapath/sim/link.h"
#include "dlcp/traffic_class.h"

namespace dlcp::datapath::sim {

inline constexpr std::size_t kSwitchQueueCount = 4;

struct PortConfig {
  std::size_t queue_bytes = std::size_t{256} << 10;  // limit of each queue: beyond it, tail drop
  // A queue that holds more than this marks (EarlyTreatment::kMark) or drops (kDrop) what arrives;
  // drop precedence 3 drops here, 2 at one and a half times as much, 1 at twice as much.
  std::size_t early_bytes = std::size_t{64} << 10;
  // Weights of kExact, kUrgent, kBulk relative to each other; the entry of kStrictHigh is not used.
  std::array<std::uint32_t, kSwitchQueueCount> weights = {0, 4, 2, 1};
  bool by_class = true;  // false: one queue, no marks
};

struct PortCounters {
  std::uint64_t tail_drops = 0;
  std::uint64_t early_drops = 0;
  std::uint64_t marks = 0;
  std::array<std::uint64_t, kSwitchQueueCount> sent_bytes{};  // on the wire, per queue
  std::size_t deepest_bytes = 0;                              // largest content of one queue
};

// The row that a DSCP belongs to; what nobody has claimed is treated as kExact but never marked.
const TrafficClassRow* row_of_dscp(std::uint8_t dscp);

class Port : public EventSink {
 public:
  Port(EventQueue& events, EventSink& far_end, const PortConfig& port, const LinkConfig& link,
       std::uint64_t seed)
      : events_(events), config_(port), link_(events, far_end, link, seed) {}

  Link& link() { return link_; }
  const PortCounters& counters() const { return counters_; }
  std::size_t queued_bytes() const;
  // Whether enqueue() would take a frame of so many bytes on the wire into an unclassed queue.
  bool has_room(std::size_t wire_bytes) const;

  void enqueue(Time now, FramePtr frame);
  void on_event(Time now, FramePtr) override;  // the wire is free again

 private:
  struct Queue {
    std::deque<FramePtr> frames;
    std::size_t bytes = 0;
    std::size_t deficit = 0;
  };
  bool dropped_or_marked(Frame& frame, const TrafficClassRow* row, std::size_t held);
  FramePtr pop(std::size_t queue);
  FramePtr next_frame();
  void start_next(Time now);

  EventQueue& events_;
  PortConfig config_;
  Link link_;
  PortCounters counters_;
  std::array<Queue, kSwitchQueueCount> queues_;
  std::size_t turn_ = 1;           // the weighted queue being served
  bool turn_has_quantum_ = false;  // its deficit has been raised on this visit
  bool transmitting_ = false;
};

}  // namespace dlcp::datapath::sim
