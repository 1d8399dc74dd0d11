// The real protocol as a transport of the simulation: one connection for each pair of hosts, opened
// before the workload begins, as NCCL does.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "simulate/protocol/core_host.h"
#include "simulate/protocol/gradient_field.h"
#include "simulate/transport.h"

namespace dlcp::simulate {

struct CoreConfig {
  core::Config core;
  HostPlan host;
  std::size_t paths = 64;
  Duration packet_cost{0};      // processor time of a host, per packet
  double magnitude_spread = 1;  // of gradients; see GradientField
  bool blind_marks = false;
  double knee = 1;  // depth at which switches mark and drop early, relative to dlcp-switch's plan
  std::uint64_t seed = 1;
};

class CoreTransport final : public Transport, public CoreHost::Listener {
 public:
  // All references must outlive this object.
  CoreTransport(Fabric& fabric, PacketPool& pool, TransferListener& listener,
                const CoreConfig& config);

  // The settings that dlcp-switch plans for a fabric of this speed.
  static ClassPlan switches(const CoreConfig& config, const FabricPlan& fabric);

  void open(std::span<const std::pair<HostIndex, HostIndex>> pairs) override;
  void announce(Time now, std::span<const Transfer> transfers) override;
  void begin(Time now, TransferId id, const Transfer& transfer) override;
  TransportCounters counters() const override;
  core::Counters core_counters() const;  // sum over all hosts

 private:
  // The n-th transfer between two hosts, at both ends.
  struct Slot {
    std::span<std::byte> memory;  // the same at both ends, as it is never written or read
    core::Licence licence;
    TransferId id = 0;      // valid once it has begun
    std::size_t bytes = 0;  // size of the transfer
  };
  struct Pair {
    HostIndex from = 0;
    HostIndex to = 0;
    core::ListenerId listener = 0;
    core::ConnectionId sender = 0;
    std::optional<core::ConnectionId> receiver;
    std::vector<Slot> slots;
    // Numbers of slots in each state, in order:
    std::size_t begun = 0;
    std::size_t sent = 0;      // send posted
    std::size_t expected = 0;  // receive posted
    std::size_t received = 0;  // receive complete
  };

  void add_hosts(std::span<const std::pair<HostIndex, HostIndex>> pairs);
  void on_core_event(Time now, HostIndex host, const core::Event& event) override;
  void on_zeros(std::span<const std::byte> place) override;
  void on_step(Time now, HostIndex host) override;
  core::Licence licence_of(const Transfer& transfer);
  bool is_open(const Pair& pair);
  // False if some posts are not possible yet.
  bool post_sends(Time now, std::size_t number);
  bool post_receives(Time now, std::size_t number);

  Fabric& fabric_;
  PacketPool& pool_;
  TransferListener& listener_;
  CoreConfig config_;
  PhantomMemory memory_;
  std::shared_ptr<const GradientField> field_;
  Scratch scratch_;
  std::vector<std::unique_ptr<CoreHost>> hosts_;  // null: host of another transport
  std::deque<Pair> pairs_;
  std::map<std::pair<HostIndex, HostIndex>, std::size_t> numbers_;
  std::vector<std::vector<std::size_t>> unopened_;  // by listening host, pairs
  std::vector<std::vector<std::size_t>> blocked_;   // by host, pairs with posts that were refused
  std::map<std::uint32_t, SharedBudget> pools_;
  std::size_t unaccepted_ = 0;
  std::uint64_t bytes_given_up_ = 0;
  double energy_ = 0;
  double energy_given_up_ = 0;
};

}  // namespace dlcp::simulate
