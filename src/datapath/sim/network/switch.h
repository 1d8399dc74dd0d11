// A switch: looks up the ports to the destination and chooses among several by a seeded hash of the
// flow (ECMP). It does not react to link failures, since the fabric's routing may converge
// arbitrarily slowly; the transport must cope with that.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "datapath/sim/network/event_queue.h"
#include "datapath/sim/network/port.h"

namespace dlcp::datapath::sim {

class Switch : public EventSink {
 public:
  explicit Switch(std::uint64_t hash_seed) : hash_seed_(hash_seed) {}

  // The ports (owned elsewhere) that lead to the destination. Other destinations use the default
  // route.
  void set_route(HostIndex destination, std::vector<Port*> ports) {
    routes_[destination] = std::move(ports);
  }
  void set_default_route(std::vector<Port*> ports) { default_route_ = std::move(ports); }

  void on_event(Time now, FramePtr frame) override {
    const auto found = routes_.find(frame->destination);
    const auto& ports = found == routes_.end() ? default_route_ : found->second;
    if (ports.empty()) return;  // no route
    Port* port = ports[flow_hash(*frame, hash_seed_) % ports.size()];
    port->enqueue(now, std::move(frame));
  }

 private:
  std::uint64_t hash_seed_;
  std::map<HostIndex, std::vector<Port*>> routes_;
  std::vector<Port*> default_route_;
};

}  // namespace dlcp::datapath::sim
