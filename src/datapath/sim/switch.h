// A switch: looks up the ports that lead to the destination and, where there are several, chooses
// by a seeded hash of the flow (ECMP). It does not notice that a port's link is dead: the fabric's
// routing is as slow as it likes, and the transport has to live with it.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "datapath/sim/event_queue.h"
#include "datapath/sim/port.h"

namespace dlcp::datapath::sim {

class Switch : public EventSink {
 public:
  explicit Switch(std::uint64_t hash_seed) : hash_seed_(hash_seed) {}

  // The ports (owned elsewhere) on which the destination is reached; without an entry, the default.
  void set_route(HostIndex destination, std::vector<Port*> ports) {
    routes_[destination] = std::move(ports);
  }
  void set_default_route(std::vector<Port*> ports) { default_route_ = std::move(ports); }

  void on_event(Time now, FramePtr frame) override {
    const auto found = routes_.find(frame->destination);
    const auto& ports = found == routes_.end() ? default_route_ : found->second;
    if (ports.empty()) return;  // nowhere to go
    Port* port = ports[flow_hash(*frame, hash_seed_) % ports.size()];
    port->enqueue(now, std::move(frame));
  }

 private:
  std::uint64_t hash_seed_;
  std::map<HostIndex, std::vector<Port*>> routes_;
  std::vector<Port*> default_route_;
};

}  // namespace dlcp::datapath::sim
