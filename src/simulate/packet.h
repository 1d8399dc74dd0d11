// A packet of a large simulation: what hosts and switches look at, and how long it is. Payloads are
// phantoms, of which only the length travels. Packets come from a pool and go back to it by
// themselves; the pool outlives them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "datapath/sim/timeline.h"
#include "dlcp/traffic_class.h"
#include "util/time.h"

namespace dlcp::simulate {

using HostIndex = std::uint32_t;

// What hosts send that know nothing of DLCP's classes: behind the last queue of the class table.
inline constexpr auto kOthersQueue = static_cast<SwitchQueue>(4);

class PacketPool;
class Port;

struct alignas(64) Packet {
  enum class Kind : std::uint8_t { kData, kAck, kTrimmed, kPull };

  HostIndex source = 0;
  HostIndex destination = 0;
  std::uint32_t wire_bytes = 0;  // that it occupies of a link, headers and gaps included
  std::uint32_t flow = 0;        // what hosts know it by
  std::uint32_t sequence = 0;    // of a packet of the flow, or of the one that this answers
  std::uint32_t cumulative = 0;  // an answer: all packets below have arrived
  std::uint32_t left = 0;        // of the message, in packets: pFabric's priority
  std::uint32_t before = 0;      // of the message, in packets: PIAS's priority
  std::uint16_t path = 0;        // entropy that ECMP sees
  std::uint16_t echoed_path = 0;
  Kind kind = Kind::kData;
  SwitchQueue queue = SwitchQueue::kExact;
  std::uint8_t dscp = 0;
  std::uint8_t level = 0;  // of strict priorities; 0 goes first
  std::uint8_t drop_precedence = 1;
  Ecn ecn = Ecn::kNotEct;
  bool droppable = false;  // above the early threshold it is dropped and not marked
  bool trimmable = false;  // a full switch cuts it down to its header
  bool echoed_mark = false;
  Port* via = nullptr;  // where flow is controlled: the port that fills the switch with it

  // Switches look at none of what follows: the rest lies in one line of the cache.
  Time sent_at;     // when the host sent it, or the packet that this answers
  Time arrived_at;  // at a host
  // Frames of the real protocol: header and control bytes, then a phantom payload.
  std::uint32_t phantom_bytes = 0;
  std::vector<std::byte> bytes;

  PacketPool* home = nullptr;
  Packet* next_free = nullptr;  // in its home
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

  // A packet of which every field has its default.
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
