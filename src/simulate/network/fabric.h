// A fabric of two or three tiers: pods of leaves and spines, every leaf connected to every spine of
// its pod, and cores above them (a fat tree), or one pod without cores (leaf and spine). It owns
// switches, ports and the hosts' network cards. Routes are shortest paths over the links that are
// known to be up; a link that fails silently remains in them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "simulate/network/class_queues.h"
#include "simulate/network/port.h"
#include "simulate/network/switch.h"

namespace dlcp::simulate {

struct FabricPlan {
  std::size_t pods = 1;
  std::size_t leaves_per_pod = 1;
  std::size_t hosts_per_leaf = 16;
  std::size_t spines_per_pod = 0;   // 0: a single switch
  std::size_t cores_per_spine = 0;  // number of cores divided by the number of spines of a pod
  Wire host;
  double card_gbit_per_s = 0;  // of a host's network card; 0: the rate of the wire
  Wire uplink;                 // leaf to spine
  Wire core;                   // spine to core
  ClassPlan classes;
  // Makes the queues of other kinds of switches; empty: class queues.
  std::function<std::unique_ptr<Discipline>()> make_discipline;
  bool adaptive = false;  // switches choose among equal paths by queue length, packet by packet
  std::optional<FlowControl> flow_control;  // of all switches; then no queue may drop
  std::size_t switch_buffer_bytes = 0;      // shared by a switch's ports; 0: fixed limits per port
  std::uint64_t seed = 1;

  std::size_t leaves() const { return pods * leaves_per_pod; }
  std::size_t hosts() const { return leaves() * hosts_per_leaf; }
};

FabricPlan single_switch(std::size_t hosts, const Wire& wire);
// `uplink` from every leaf to every spine.
FabricPlan leaf_spine(std::size_t leaves, std::size_t hosts_per_leaf, std::size_t spines,
                      const Wire& host, const Wire& uplink);
// Of switches with `radix` ports: radix^3 / 4 hosts. With 4:1 oversubscription leaves have a
// quarter of the uplinks.
FabricPlan fat_tree(std::size_t radix, const Wire& wire, std::size_t oversubscription = 1);

// RTT with empty queues: a full packet and its answer over the longest path.
Duration base_round_trip(const FabricPlan& plan, std::uint32_t packet_bytes,
                         std::uint32_t answer_bytes);

class Fabric {
 public:
  // The plan is copied; events and pool must outlive the fabric.
  Fabric(Events& events, const FabricPlan& plan);

  const FabricPlan& plan() const { return plan_; }
  Events& events() { return events_; }
  std::size_t hosts() const { return cards_.size(); }

  // Sets the receiver of the host's packets.
  void attach(HostIndex host, Sink& station) { ends_[host]->station = &station; }
  Port& card(HostIndex host) { return *cards_[host]; }       // host to leaf
  Port& to_host(HostIndex host) { return *to_host_[host]; }  // leaf to host

  // Links between switches; a cable consists of two links.
  enum class Tier { kLeafUp, kLeafDown, kSpineUp, kSpineDown };
  struct Link {
    Tier tier;
    std::size_t from;  // switches, by index in the fabric
    std::size_t to;
    std::unique_ptr<Port> port;
    bool withdrawn = false;
  };
  const std::vector<Link>& links() const { return links_; }
  Port& link(std::size_t index) { return *links_[index].port; }
  // The `which`-th link of a tier.
  std::size_t find(Tier tier, std::size_t which) const;
  // Removes both directions from all routes, as routing protocols do after detecting a failure.
  void withdraw(std::size_t link) { set_withdrawn(link, true); }
  void restore(std::size_t link) { set_withdrawn(link, false); }

  // The ratio of the busiest link to the mean of a switch's links, maximum over the switches that
  // the tier's links leave.
  double imbalance(Tier tier) const;
  QueueCounters sum() const;       // over all switch ports
  PortCounters sum_wires() const;  // over all ports, cards included

 private:
  struct HostEnd final : Sink {
    Sink* station = nullptr;
    void on_event(Time now, PacketPtr packet) override {
      if (station != nullptr) station->on_event(now, std::move(packet));
    }
  };

  std::unique_ptr<Discipline> discipline_of(Switch* owner);
  std::uint64_t next_seed();
  void add_hosts(std::size_t leaf);
  void add_cable(Tier up, Tier down, std::size_t lower, std::size_t upper, const Wire& wire);
  void set_withdrawn(std::size_t link, bool withdrawn);
  void route();

  Events& events_;
  FabricPlan plan_;
  std::uint64_t seed_;
  std::vector<std::unique_ptr<Switch>> switches_;  // leaves, then spines, then cores
  std::vector<std::unique_ptr<HostEnd>> ends_;
  std::vector<std::unique_ptr<Port>> cards_;
  std::vector<std::unique_ptr<Port>> to_host_;
  std::vector<Link> links_;
};

}  // namespace dlcp::simulate
