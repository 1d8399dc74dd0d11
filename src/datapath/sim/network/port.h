// An egress port: one queue for each SwitchQueue (strict priority first, the others by deficit
// round robin), each limited in bytes, with ECN marking and early drop above a threshold, and the
// link that it feeds. A host's NIC is a port that ignores classes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>

#include "datapath/sim/network/event_queue.h"
#include "datapath/sim/network/link.h"
#include "dlcp/traffic_class.h"

namespace dlcp::datapath::sim {

inline constexpr std::size_t kSwitchQueueCount = 4;

struct PortConfig {
  std::size_t queue_bytes = std::size_t{256} << 10;  // limit of each queue; tail drop above it
  // A queue with more bytes than this marks (EarlyTreatment::kMark) or drops (kDrop) arriving
  // packets. Drop precedence 3 is dropped above this threshold, 2 above 1.5 times, 1 above twice
  // the threshold.
  std::size_t early_bytes = std::size_t{64} << 10;
  // Relative weights of kExact, kUrgent and kBulk; the entry of kStrictHigh is unused.
  std::array<std::uint32_t, kSwitchQueueCount> weights = {0, 4, 2, 1};
  bool by_class = true;  // false: one queue without marking
};

struct PortCounters {
  std::uint64_t tail_drops = 0;
  std::uint64_t early_drops = 0;
  std::uint64_t marks = 0;
  std::array<std::uint64_t, kSwitchQueueCount> sent_bytes{};  // on the wire, by queue
  std::size_t deepest_bytes = 0;                              // largest content of one queue
};

// The row of a DSCP. Packets with an unknown DSCP are treated as kExact but never marked.
const TrafficClassRow* row_of_dscp(std::uint8_t dscp);

class Port : public EventSink {
 public:
  Port(EventQueue& events, EventSink& far_end, const PortConfig& port, const LinkConfig& link,
       std::uint64_t seed)
      : events_(events), config_(port), link_(events, far_end, link, seed) {}

  Link& link() { return link_; }
  const PortCounters& counters() const { return counters_; }
  std::size_t queued_bytes() const;
  // True if enqueue() would accept a frame of `wire_bytes` on the wire into a port without classes.
  bool has_room(std::size_t wire_bytes) const;

  void enqueue(Time now, FramePtr frame);
  void on_event(Time now, FramePtr) override;  // the wire is free

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
  std::size_t turn_ = 1;           // the weighted queue that is being served
  bool turn_has_quantum_ = false;  // its deficit was increased on this visit
  bool transmitting_ = false;
};

}  // namespace dlcp::datapath::sim
