// A packet of a large simulation: the fields that hosts and switches read, and its length. Payloads
// are phantoms: only their length exists. Packets come from a pool and return to it automatically;
// the pool must outlive them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "datapath/sim/timeline/timeline.h"
#include "dlcp/traffic_class.h"
#include "util/time.h"

namespace dlcp::simulate {

using HostIndex = std::uint32_t;

// The queue of packets without a DLCP class: after the last queue of the class table.
inline constexpr auto kOthersQueue = static_cast<SwitchQueue>(4);

class PacketPool;
class Port;

struct alignas(64) Packet {
  enum class Kind : std::uint8_t { kData, kAck, kTrimmed, kPull };

  HostIndex source = 0;
  HostIndex destination = 0;
  std::uint32_t wire_bytes = 0;  // length on the link, headers and gaps included
  std::uint32_t flow = 0;        // the hosts' number for it
  std::uint32_t sequence = 0;    // of a packet of the flow, or of the packet that this one answers
  std::uint32_t cumulative = 0;  // of an answer: all packets below have arrived
  std::uint32_t left = 0;        // remaining packets of the message: pFabric's priority
  std::uint32_t before = 0;      // earlier packets of the message: PIAS's priority
  std::uint16_t path = 0;        // entropy that ECMP hashes
  std::uint16_t echoed_path = 0;
  Kind kind = Kind::kData;
  SwitchQueue queue = SwitchQueue::kExact;
  std::uint8_t dscp = 0;
  std::uint8_t level = 0;  // strict priority; 0 is the highest
  std::uint8_t drop_precedence = 1;
  Ecn ecn = Ecn::kNotEct;
  bool droppable = false;  // dropped, not marked, above the early-drop threshold
  bool trimmable = false;  // a switch with a full queue cuts it down to its header
  bool echoed_mark = false;
  Port* via = nullptr;  // with flow control: the port that sent it to the switch

  // Switches read none of the following fields, which share a cache line.
  Time sent_at;     // time when the host sent this packet, or the packet that this one answers
  Time arrived_at;  // at a host
  // Frames of the real protocol: header and control bytes, followed by a phantom payload.
  std::uint32_t phantom_bytes = 0;
  bool placed = false;  // `bytes` is the PhantomPlacer::Head of a packet that the card places
  std::vector<std::byte> bytes;

  PacketPool* home = nullptr;
  Packet* next_free = nullptr;  // in the pool
};

static_assert(offsetof(Packet, sent_at) <= alignof(Packet));

struct Recycle {
  void operator()(Packet* packet) const;
};
using PacketPtr = std::unique_ptr<Packet, Recycle>;

class PacketPool {
 public:
  PacketPool() = default;
  PacketPool(const PacketPool&) = delete;
  PacketPool& operator=(const PacketPool&) = delete;

  // A packet with the default value of every field.
  PacketPtr take() {
    Packet* packet = free_;
    if (packet != nullptr)
      free_ = packet->next_free;
    else
      packet = &all_.emplace_back();
    ++in_use_;
    std::vector<std::byte> bytes = std::move(packet->bytes);
    *packet = Packet{};
    bytes.clear();
    packet->bytes = std::move(bytes);
    packet->home = this;
    return PacketPtr(packet);
  }
  void give_back(Packet* packet) {
    packet->next_free = std::exchange(free_, packet);
    --in_use_;
  }

  std::size_t made() const { return all_.size(); }
  std::size_t in_use() const { return in_use_; }

 private:
  std::deque<Packet> all_;
  Packet* free_ = nullptr;
  std::size_t in_use_ = 0;
};

inline void Recycle::operator()(Packet* packet) const {
  packet->home->give_back(packet);
}

using Events = datapath::sim::Timeline<PacketPtr>;
using Sink = Events::Sink;

}  // namespace dlcp::simulate
