// The Placer (datapath/placer.h) of a verbs datapath: RDMA WRITE WITH IMMEDIATE over connected
// queue pairs, one packet per message: it is placed whole or not at all. A longer message that
// loses its last packet makes a Soft-RoCE queue pair deaf for ever.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "datapath/link_sizes.h"
#include "datapath/placer.h"
#include "datapath/verbs/device/memory_regions.h"
#include "datapath/verbs/placement/gpu/flush_queue.h"
#include "datapath/verbs/placement/gpu/gpu_writes.h"
#include "datapath/verbs/placement/links/link_table.h"
#include "datapath/verbs/placement/permissions/device_permissions.h"
#include "datapath/verbs/placement/placement_ability.h"
#include "datapath/verbs/placement/queue_pairs/chains.h"
#include "datapath/verbs/placement/queue_pairs/queue_table.h"
#include "datapath/verbs/repair_pause.h"

namespace dlcp::datapath {

class VerbsPlacer final : public Placer {
 public:
  struct Options {
    PlacementAbility ability;  // must place()
    LinkTable::Marks marks;
    std::size_t queues_max = kLinkQueuePairsMax;
    std::size_t windows_max = 4096;       // at most as many as the device has
    std::uint32_t sends = kSendsPerPath;  // of one queue, a power of two
    std::uint32_t receives = 512;         // of one queue, a multiple of 8
  };

  // `registered` must be bindable if windows are proven. It outlives this object.
  static Result<std::unique_ptr<VerbsPlacer>> open(VerbsCard& card, MemoryRegions& registered,
                                                   Options options);

  GpuAccess gpu_access() const override { return options_.ability.places_in_gpus(); }
  Result<LinkId> open_link(const wire::EndpointAddress& peer, Duration round_trip) override;
  Status widen(LinkId link, TrafficClass traffic_class, std::size_t paths) override;
  Introduction introduction(LinkId link) const override;
  std::uint32_t introduction_version(LinkId link) const override;
  Status connect(LinkId link, std::span<const std::byte> introduction) override;
  wire::LinkPaths paths(LinkId link, TrafficClass traffic_class) const override;
  bool awaits_peer(LinkId link) const override { return links_.awaits_peer(link); }
  LinkLimits link_limits(LinkId link) const override;
  std::uint32_t failures(LinkId link, TrafficClass c, wire::PathIndex path) const override;
  void close_link(LinkId link) override;

  PermissionId permit(LinkId link, std::span<std::byte> memory) override;
  void revoke(PermissionId id) override;
  void revoke_all(std::span<const std::byte> memory) override;
  std::size_t poll_permissions(Time now, std::span<PermissionEvent> out) override;
  bool awaits_poll() const override;

  Status register_gpu_memory(const GpuMemory& memory) override;
  bool is_gpu_memory(std::span<const std::byte> memory) override;
  bool flush(std::span<const std::byte> memory) override;
  std::size_t flushed(Time now) override;
  bool write(std::span<std::byte> to, std::span<const std::byte> from) override;
  std::size_t written(Time now) override;
  bool writes(std::span<const std::byte> memory) const override;
  void stop_writes(std::span<const std::byte> memory) override;

  bool can_place_from(std::span<const std::byte> memory) override;
  std::size_t place(std::span<const PlacedPacket> packets) override;
  std::size_t placed(Time now, std::span<PlacedRun> out) override;

  // --- For the datapath
  const PlacementCounters& counters() const { return counters_; }
  bool reads(std::span<const std::byte> memory);
  void abandon(std::span<const std::byte> memory);
  // Revokes the permissions in memory whose registration is about to end.
  void on_release(std::span<const std::byte> memory);
  bool arm();  // asks for an event of the card's channel for each completion queue
  // The card cannot access GPU memory although it has registered it.
  std::optional<Error> failure() const;
  // The device is gone: packets are lost, and nothing is polled.
  void stop() { is_stopped_ = true; }

 private:
  class RunWriter;
  VerbsPlacer(VerbsCard& card, MemoryRegions& registered, Options options);
  ConnectedQueue* queue_of(const LinkPath& way);
  void add(const PlacedPacket& packet);
  void post();
  void lose();
  void collect_sent(QueueTable::Group& group);
  void on_received(const ibv_wc& completion, RunWriter& runs);
  void repair(Time now);

  VerbsCard& card_;
  MemoryRegions& registered_;
  const Options options_;
  PlacementCounters counters_;
  QueueTable queues_;
  ReceiveChain receives_;
  SendChain chain_;
  mutable LinkTable links_;
  std::unique_ptr<DevicePermissions> permissions_;
  std::unique_ptr<FlushQueue> flushes_;  // null until GPU memory is registered
  std::unique_ptr<GpuWrites> writes_;    // the same
  std::uint64_t last_permission_ = 0;
  std::array<ibv_wc, 64> completions_{};

  // The way of the packets that are being placed, so that it is looked up once for each burst.
  LinkPath way_;
  ConnectedQueue* way_queue_ = nullptr;
  std::size_t way_bytes_max_ = 0;
  std::vector<std::uint16_t> used_;  // queues that may have requests, so that reads() is short

  std::size_t next_group_ = 0;  // the first to be polled
  bool is_any_broken_ = false, is_stopped_ = false;
  RepairPause repair_pause_;
};

}  // namespace dlcp::datapath
