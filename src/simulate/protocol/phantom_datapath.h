// The datapath of a host in a large simulation: headers and control frames are sent in full,
// payloads only as lengths. The core receives whole datagrams whose payload is arbitrary data of a
// scratch buffer. The payload is never read, because tags cover only headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "datapath/datapath.h"
#include "datapath/sim/card/phantom_placer.h"
#include "simulate/network/fabric.h"
#include "simulate/network/packet_ring.h"
#include "simulate/protocol/phantom_memory.h"

namespace dlcp::simulate {

struct HostPlan {
  std::size_t mtu = 4200;  // IP bytes: payloads of 4 KiB
  std::size_t paths = 64;
  std::size_t card_bytes = std::size_t{64} << 10;     // send() accepts no more while more wait
  std::size_t receive_bytes = std::size_t{12} << 20;  // 3072 receives, as over RoCE
  // IP and UDP, and RoCE's additions (12 + 8 + 4); Ethernet with preamble and gap.
  std::size_t ip_bytes = 28 + 24;
  std::size_t ethernet_bytes = 38;
  bool places = false;  // the card writes long messages into posted buffers
};

// The buffer in which datagrams are assembled, for one batch of one host at a time.
class Scratch {
 public:
  static constexpr std::size_t kSlots = 64;
  explicit Scratch(std::size_t datagram_bytes)
      : stride_((datagram_bytes + 127) / 64 * 64), bytes_(kSlots * stride_) {}
  std::span<std::byte> slot(std::size_t index) {
    return std::span(bytes_).subspan(index * stride_, stride_);
  }

 private:
  std::size_t stride_;
  std::vector<std::byte> bytes_;
};

class PhantomDatapath final : public datapath::Datapath {
 public:
  // All references must outlive this object.
  PhantomDatapath(Fabric& fabric, PacketPool& pool, PhantomMemory& memory, Scratch& scratch,
                  HostIndex host, const HostPlan& plan);

  std::string_view name() const override { return "phantom"; }
  const wire::EndpointAddress& local_address() const override { return address_; }
  datapath::Limits limits() const override;
  std::size_t send(std::span<const wire::TxPacket> packets) override;
  std::size_t receive(Time now, std::span<wire::RxPacket> out) override;
  int wait_descriptor() const override { return -1; }
  datapath::Placer* placer() override { return placer_.get(); }

  void take(Time now, PacketPtr packet);
  // When receive() or the placer has something to report.
  Time next_arrival() const {
    if (!waiting_.empty()) return Time{};
    return placer_ != nullptr ? placer_->next_report() : kNever;
  }
  bool has_room() const { return card_.waiting_bytes() < plan_.card_bytes; }
  std::uint64_t dropped() const { return dropped_; }

 private:
  PacketPtr packet_to(const wire::EndpointAddress& peer, TrafficClass traffic_class,
                      wire::PathIndex path, std::size_t ip_bytes);
  bool emit(const wire::EndpointAddress& peer, const datapath::sim::PhantomPlacer::Head& head);

  Fabric& fabric_;
  PacketPool& pool_;
  PhantomMemory& memory_;
  Scratch& scratch_;
  HostIndex host_;
  HostPlan plan_;
  Port& card_;
  wire::EndpointAddress address_;
  std::unique_ptr<datapath::sim::PhantomPlacer> placer_;  // null if the plan has none
  PacketRing waiting_;
  std::size_t waiting_bytes_ = 0;
  std::vector<PacketPtr> handed_out_;  // valid until the next receive()
  std::uint64_t dropped_ = 0;          // because the receive queue was full
};

}  // namespace dlcp::simulate
