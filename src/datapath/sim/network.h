// A simulated network: hosts, switches and the links between them, with one switch or as a
// leaf-spine fabric. It owns all parts and the clock. The same configuration and seed give the same
// event hash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "datapath/sim/network/event_queue.h"
#include "datapath/sim/network/port.h"
#include "datapath/sim/network/switch.h"
#include "datapath/sim/sim_datapath.h"

namespace dlcp::datapath::sim {

struct NetworkConfig {
  std::vector<HostConfig> hosts;  // in the order in which they fill the leaves
  std::size_t leaves = 1;         // 1: a single switch without spines
  std::size_t spines = 0;
  LinkConfig fabric_link;  // between a leaf and a spine
  PortConfig port;         // of every switch port
  std::uint64_t seed = 1;
};

NetworkConfig single_switch(std::size_t hosts, const HostConfig& host);
NetworkConfig leaf_spine(std::size_t leaves, std::size_t spines, std::size_t hosts_per_leaf,
                         const HostConfig& host, const LinkConfig& fabric_link);

class Network {
 public:
  explicit Network(const NetworkConfig& config);

  EventQueue& events() { return events_; }
  std::size_t host_count() const { return hosts_.size(); }
  std::size_t leaf_of(HostIndex host) const { return host / hosts_per_leaf_; }
  SimDatapath& host(HostIndex index) { return *hosts_[index]; }
  Port& to_host(HostIndex index) { return *host_ports_[index]; }
  Port& leaf_to_spine(std::size_t leaf, std::size_t spine) { return *up_[leaf * spines_ + spine]; }
  Port& spine_to_leaf(std::size_t spine, std::size_t leaf) {
    return *down_[leaf * spines_ + spine];
  }

  void set_faults(const LinkFaults& faults);       // on all links
  void set_edge_faults(const LinkFaults& faults);  // on hosts' sending links: once per packet
  void add_outage(Time from, Time until);          // of all links
  // The spine drops all packets within [from, until) without any notification.
  void add_spine_outage(std::size_t spine, Time from, Time until);

  // Hash over all deliveries so far, in order: time, host, bytes, path, marks.
  std::uint64_t event_hash() const { return delivery_hash_; }

 private:
  void build_leaves(const NetworkConfig& config);
  void build_spines(const NetworkConfig& config);
  std::uint64_t next_seed() { return seed_ = mix(seed_, 0x5eed); }

  EventQueue events_;
  std::uint64_t seed_;
  std::uint64_t delivery_hash_ = 0;
  std::size_t hosts_per_leaf_;
  std::size_t spines_;
  std::vector<std::unique_ptr<Switch>> leaves_;
  std::vector<std::unique_ptr<Switch>> spine_switches_;
  std::vector<std::unique_ptr<SimDatapath>> hosts_;
  std::vector<std::unique_ptr<Port>> host_ports_;  // switch to host
  std::vector<std::unique_ptr<Port>> up_;          // leaf to spine
  std::vector<std::unique_ptr<Port>> down_;        // spine to leaf
  std::vector<Link*> links_;                       // all links
};

}  // namespace dlcp::datapath::sim
