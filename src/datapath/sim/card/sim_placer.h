// The simulated card of one host that places data (datapath/placer.h): links, keys, and writes that
// the network may delay, double or reorder. A write takes a while between the check of its key and
// the change of memory; revoking a permission waits for it, unless the model says otherwise. The
// link layer's checksum (ICRC) drops damaged packets. The configuration may change at any time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "datapath/placer.h"
#include "datapath/sim/card/card_config.h"
#include "datapath/sim/card/card_state.h"
#include "datapath/sim/card/reliable_paths.h"
#include "datapath/sim/network/event_queue.h"
#include "datapath/sim/network/port.h"
#include "util/rng.h"

namespace dlcp::datapath::sim {

class SimPlacer final : public Placer, public EventSink {
 public:
  SimPlacer(EventQueue& events, Port& nic, HostIndex host, std::size_t host_paths,
            std::size_t payload_bytes_max, const CardConfig& config, std::uint64_t seed)
      : events_(events),
        nic_(nic),
        host_(host),
        paths_(host_paths),
        payload_bytes_max_(payload_bytes_max),
        config_(config),
        rng_(seed),
        reliable_(
            config_,
            [this](Time now, const auto& key, const Frame& frame) { send(now, key, frame); },
            [this](Time at) { events_.schedule(at, *this); }) {}

  using Write = std::function<void(Time, std::span<std::byte> to, std::span<const std::byte> from)>;
  void set_write(Write write) { write_ = std::move(write); }  // called instead of the copy
  CardConfig& config() { return config_; }
  const CardCounters& counters() const { return counters_; }
  std::size_t permissions() const { return permits_.size(); }  // not revoked yet
  const ReliablePaths& reliable() const { return reliable_; }
  bool has_reports() const { return !arrived_.empty() || !reports_.empty(); }

  void on_event(Time now, FramePtr frame) override;  // a placed packet arrives, or a timer
  Result<LinkId> open_link(const wire::EndpointAddress& peer, Duration round_trip) override;
  Status widen(LinkId link, TrafficClass traffic_class, std::size_t paths) override;
  Introduction introduction(LinkId link) const override;
  std::uint32_t introduction_version(LinkId link) const override;
  Status connect(LinkId link, std::span<const std::byte> introduction) override;
  wire::LinkPaths paths(LinkId link, TrafficClass traffic_class) const override;
  bool awaits_peer(LinkId link) const override;
  LinkLimits link_limits(LinkId link) const override;
  std::uint32_t failures(LinkId link, TrafficClass c, wire::PathIndex path) const override;
  void close_link(LinkId link) override;
  PermissionId permit(LinkId link, std::span<std::byte> memory) override;
  void revoke(PermissionId id) override;
  void revoke_all(std::span<const std::byte> memory) override;
  std::size_t poll_permissions(Time now, std::span<PermissionEvent> out) override;
  bool awaits_poll() const override { return false; }
  bool can_place_from(std::span<const std::byte>) override { return true; }
  std::size_t place(std::span<const PlacedPacket> packets) override;
  std::size_t placed(Time now, std::span<PlacedRun> out) override;

 private:
  using Words = card::Words;
  using Link = card::Link;
  using Permit = card::Permit;
  using InProgress = card::InProgress;
  bool is_alive(Time now, std::uint32_t key) const;
  const Link* find(LinkId link) const;
  void take(Time now, Frame& frame);
  bool take_reliable(Time now, Frame& frame);
  void send(Time now, const ReliablePaths::Key& key, const Frame& frame);
  void introduce_paths(LinkId id, Link& link);
  wire::LinkPaths shared(LinkId id, TrafficClass traffic_class) const;
  bool is_joined(LinkId id, const Link& link, std::size_t path) const;
  void finish(Time now, InProgress& write);
  void finish_due(Time now, PermissionId forced = PermissionId::kNone);
  void end(PermissionId id, bool report);

  EventQueue& events_;
  Port& nic_;
  const HostIndex host_;
  const std::size_t paths_;
  const std::size_t payload_bytes_max_;
  CardConfig config_;
  Rng rng_;
  Write write_;
  CardCounters counters_;
  std::map<LinkId, Link> links_;
  std::uint32_t last_link_ = 0;
  std::map<PermissionId, Permit> permits_;
  std::map<std::uint32_t, PermissionId> by_key_;
  std::uint64_t last_permit_ = 0;
  std::uint32_t last_key_ = 0;
  std::deque<InProgress> in_progress_;
  std::deque<PlacedRun> arrived_;
  std::map<std::tuple<LinkId, TrafficClass, wire::PathIndex>, std::size_t> waiting_;
  std::deque<PermissionEvent> reports_;
  ReliablePaths reliable_;
};

}  // namespace dlcp::datapath::sim
