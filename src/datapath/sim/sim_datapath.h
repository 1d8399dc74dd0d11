// The datapath of one simulated host: a NIC port towards the network, and a bounded receive queue
// (the socket buffer) that drops packets when full. Its clock is the event queue's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "datapath/datapath.h"
#include "datapath/sim/card/sim_placer.h"
#include "datapath/sim/network/event_queue.h"
#include "datapath/sim/network/port.h"

namespace dlcp::datapath::sim {

struct HostConfig {
  LinkConfig link = {};    // the cable, in both directions
  std::size_t mtu = 1500;  // IP bytes that the host assumes; the network may carry less
  std::size_t paths = 16;
  std::size_t nic_queue_bytes = std::size_t{128} << 10;  // when full, send() accepts nothing
  std::size_t receive_queue_bytes = std::size_t{1} << 20;
  std::optional<CardConfig> card = {};  // the card places data
};

struct HostCounters {
  std::uint64_t delivered = 0;        // put into the receive queue
  std::uint64_t receive_dropped = 0;  // because the receive queue was full
  std::uint64_t refused = 0;          // by send(): larger than the MTU, or unknown host
};

wire::EndpointAddress make_address(HostIndex host, std::size_t paths);
std::optional<HostIndex> host_at(const wire::EndpointAddress& address);

class SimDatapath : public Datapath, public EventSink {
 public:
  // `delivery_hash` is shared by all hosts of a network; see Network::event_hash().
  SimDatapath(EventQueue& events, HostIndex index, const HostConfig& config, EventSink& first_hop,
              std::uint64_t seed, std::uint64_t& delivery_hash);

  std::string_view name() const override { return "sim"; }
  const wire::EndpointAddress& local_address() const override { return address_; }
  Limits limits() const override;
  std::size_t send(std::span<const wire::TxPacket> packets) override;
  std::size_t receive(Time now, std::span<wire::RxPacket> out) override;
  int wait_descriptor() const override { return -1; }
  Placer* placer() override { return placer_.get(); }
  void release_memory(std::span<std::byte> memory) override {
    if (placer_) placer_->revoke_all(memory);
  }

  void on_event(Time now, FramePtr frame) override;  // a frame arrives

  // For the code that drives the host.
  bool has_packets() const { return !waiting_.empty() || (placer_ && placer_->has_reports()); }
  SimPlacer* card() { return placer_.get(); }
  bool can_send() const { return nic_.has_room(config_.mtu + kEthernetBytes); }
  Port& nic() { return nic_; }
  const HostConfig& config() const { return config_; }
  const HostCounters& counters() const { return counters_; }

  // Sends a datagram that does not come from the protocol.
  void inject(FramePtr frame) { nic_.enqueue(events_.now(), std::move(frame)); }

 private:
  EventQueue& events_;
  HostIndex index_;
  HostConfig config_;
  wire::EndpointAddress address_;
  Port nic_;
  HostCounters counters_;
  std::unique_ptr<SimPlacer> placer_;
  std::uint64_t& delivery_hash_;
  std::deque<FramePtr> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::vector<FramePtr> handed_out_;  // valid until the next receive()
};

}  // namespace dlcp::datapath::sim
