// The datapath over RoCEv2: UD queue pairs of one RDMA port. It owns the card and its rings, finds
// ring, address handle and memory key for each packet, replaces a failed sending queue pair, and
// detects that the device was removed. Core interprets the bytes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datapath/address/device_address.h"
#include "datapath/datapath.h"
#include "datapath/verbs/device/memory_regions.h"
#include "datapath/verbs/device/verbs_card.h"
#include "datapath/verbs/placement/verbs_placer.h"
#include "datapath/verbs/repair_pause.h"
#include "datapath/verbs/rings/address_handles.h"
#include "datapath/verbs/rings/receive_ring.h"
#include "datapath/verbs/rings/send_ring.h"
#include "datapath/verbs/verbs_options.h"
#include "util/system/fd.h"

namespace dlcp::datapath {

class VerbsDatapath final : public Datapath {
 public:
  static Result<std::unique_ptr<VerbsDatapath>> open(std::shared_ptr<Verbs> verbs,
                                                     const VerbsOptions& options);

  std::string_view name() const override { return "verbs"; }
  std::vector<NamedCount> counts() const override;
  const wire::EndpointAddress& local_address() const override { return address_blob_; }
  Limits limits() const override;
  std::string describe(const wire::EndpointAddress& address) const override;
  PathReport last_report(const wire::EndpointAddress& peer) const override;
  Status check_reachable(const wire::EndpointAddress& peer) const override;
  std::size_t send(std::span<const wire::TxPacket> packets) override;
  std::size_t receive(Time now, std::span<wire::RxPacket> out) override;
  int wait_descriptor() const override { return wait_.get(); }
  bool arm() override;
  Status register_memory(std::span<std::byte> memory) override { return regions_.add(memory); }
  void release_memory(std::span<std::byte> memory) override;
  bool reads(std::span<const std::byte> memory) override;
  void abandon(std::span<const std::byte> memory) override;
  std::optional<Error> failure() const override;
  Placer* placer() override { return placer_.get(); }

  const VerbsCounters& counters() const { return counters_; }
  // Number of UDP source ports of packets to one peer, as far as the driver's behaviour is known.
  std::size_t source_ports() const;

 private:
  VerbsDatapath(std::unique_ptr<VerbsCard> card, const VerbsOptions& options);

  Status open_rings(const VerbsOptions& options);
  Status open_placer(const VerbsOptions& options);
  bool resolve(const wire::EndpointAddress& destination);
  void turn_to(const wire::TxPacket& packet);
  bool add(const wire::TxPacket& packet);
  void collect_completions();
  void collect_events();
  void repair(Time now);

  // For the flow labels, so that lanes and processes that share a card use different ports.
  const std::uint64_t seed_;
  std::unique_ptr<VerbsCard> card_;
  VerbsCounters counters_;
  MemoryRegions regions_;
  AddressHandles handles_;
  std::vector<std::unique_ptr<SendRing>> rings_;  // one for all paths, or one for each
  std::unique_ptr<ReceiveRing> receive_;
  std::unique_ptr<VerbsPlacer> placer_;  // null if the options have none
  Fd wait_;  // epoll over the completion channel and the device's events
  std::size_t paths_ = 1;
  DeviceAddress address_;
  wire::EndpointAddress address_blob_;
  std::array<ibv_wc, 64> completions_{};

  // The ring and handle of the current burst, whose packets share destination, path and class, so
  // that they are looked up once. Valid within one call of send(); after it, the address may belong
  // to another peer.
  struct Way {
    const wire::EndpointAddress* destination = nullptr;
    wire::PathIndex path = 0;
    TrafficClass traffic_class = TrafficClass::kControl;
    SendRing* ring = nullptr;
    AddressHandles::Handle* handle = nullptr;  // of the peer in resolved_, once found
  };
  Way way_;
  wire::EndpointAddress resolved_;  // the last destination, whose decoded form is peer_
  struct Peer {
    IpAddress ip;
    std::uint32_t queue_pair = 0;  // 0: cannot be reached
  };
  Peer peer_;
  Time now_;
  Time next_look_;      // when to read the device's events
  Time next_presence_;  // when to check that the device still exists
  RepairPause repair_pause_;
  bool armed_ = false;
  bool gone_ = false;              // the device cannot be used any more
  bool lost_completions_ = false;  // because of a completion queue
};

}  // namespace dlcp::datapath
