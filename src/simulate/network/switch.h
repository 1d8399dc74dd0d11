// A switch: looks up the ports towards the destination's leaf and chooses among equal ones by a
// seeded hash (ECMP), of the flow only or also of the packet's entropy. With adaptive routing it
// takes the port with the shortest queue, equal ones in turn.
#pragma once

#include <cstdint>
#include <vector>

#include "datapath/sim/network/frame.h"
#include "simulate/network/port.h"

namespace dlcp::simulate {

class Switch final : public Sink {
 public:
  // `leaves`: number of destinations.
  Switch(std::size_t leaves, std::size_t hosts_per_leaf, std::uint64_t hash_seed)
      : hosts_per_leaf_(static_cast<HostIndex>(hosts_per_leaf)),
        hash_seed_(hash_seed),
        towards_leaf_(leaves) {}

  // A leaf's own hosts, in order; other switches have none.
  void set_hosts(HostIndex first, std::vector<Port*> ports) {
    first_host_ = first;
    to_host_ = std::move(ports);
  }
  void set_route(std::size_t leaf, std::vector<Port*> ports) {
    towards_leaf_[leaf] = std::move(ports);
  }
  void route_adaptively() { adaptive_ = true; }
  const std::vector<Port*>& route(std::size_t leaf) const { return towards_leaf_[leaf]; }

  void on_event(Time now, PacketPtr packet) override {
    if (packet->via != nullptr) packet->via->hold(now, packet->wire_bytes);
    const HostIndex own = packet->destination - first_host_;
    if (own < to_host_.size()) {
      to_host_[own]->enqueue(now, std::move(packet));
      return;
    }
    const auto& ports = towards_leaf_[packet->destination / hosts_per_leaf_];
    if (ports.empty()) {
      ++unroutable_;
      if (packet->via != nullptr) packet->via->let_go(now, packet->wire_bytes);
      return;
    }
    Port* port = ports.size() == 1 ? ports[0] : choose(ports, now, *packet);
    port->enqueue(now, std::move(packet));
  }

  SharedBuffer& buffer() { return buffer_; }
  std::uint64_t unroutable() const { return unroutable_; }

 private:
  Port* choose(const std::vector<Port*>& ports, Time now, const Packet& packet) {
    if (!adaptive_) return ports[hash(packet) % ports.size()];
    const std::size_t first = ++turn_ % ports.size();
    Port* best = ports[first];
    for (std::size_t i = 1; i < ports.size(); ++i) {
      Port* other = ports[(first + i) % ports.size()];
      if (other->backlog_bytes(now) < best->backlog_bytes(now)) best = other;
    }
    return best;
  }
  std::uint64_t hash(const Packet& packet) const {
    using datapath::sim::mix;
    return mix(mix(hash_seed_, std::uint64_t{packet.source} << 32 | packet.destination),
               packet.path);
  }

  HostIndex hosts_per_leaf_;
  std::uint64_t hash_seed_;
  bool adaptive_ = false;
  std::size_t turn_ = 0;
  HostIndex first_host_ = 0;
  std::vector<Port*> to_host_;
  std::vector<std::vector<Port*>> towards_leaf_;
  SharedBuffer buffer_;
  std::uint64_t unroutable_ = 0;
};

}  // namespace dlcp::simulate
