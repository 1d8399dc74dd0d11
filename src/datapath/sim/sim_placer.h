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
#include "datapath/sim/card_config.h"
#include "datapath/sim/event_queue.h"
#include "datapath/sim/port.h"
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
        rng_(seed) {}

  using Write = std::function<void(Time, std::span<std::byte> to, std::span<const std::byte> from)>;
  void set_write(Write write) { write_ = std::move(write); }  // called instead of the copy
  CardConfig& config() { return config_; }
  const CardCounters& counters() const { return counters_; }
  std::size_t permissions() const { return permits_.size(); }  // not revoked yet
  bool has_reports() const { return !arrived_.empty() || !reports_.empty(); }

  void on_event(Time now, FramePtr frame) override;  // a placed packet arrives, or a timer
  PlacementLimits placement_limits() const override;
  Result<LinkId> open_link(const wire::EndpointAddress& peer) override;
  Status widen(LinkId link, TrafficClass traffic_class, std::size_t paths) override;
  Introduction introduction(LinkId link) const override;
  std::uint32_t introduction_version(LinkId link) const override;
  Status connect(LinkId link, std::span<const std::byte> introduction) override;
  std::size_t paths(LinkId link, TrafficClass traffic_class) const override;
  LinkLimits link_limits(LinkId link) const override;
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
  // The content of an introduction. `heard` is what the sender of it knows of its receiver.
  struct Words {
    std::uint32_t link = 0;
    std::uint32_t classes = 0;  // one bit for each that has been widened
    std::uint32_t heard_link = 0;
    std::uint32_t heard_classes = 0;
  };
  struct Link {
    HostIndex peer = 0;
    Words own;
    Words theirs;
    std::uint32_t version = 1;
  };
  struct Permit {
    LinkId link = LinkId::kNone;
    std::span<std::byte> memory;
    std::uint32_t key = 0;
    Time granted_at;
    bool granted = false;
    Time dies_at = kNever;  // the key is checked until then
    bool reported = false;  // as revoked
  };
  struct InProgress {
    Time done_at;
    PermissionId id = PermissionId::kNone;
    std::span<std::byte> to;
    std::vector<std::byte> payload;
    PlacedRun report;
  };
  const Link* find(LinkId link) const;
  void take(Time now, Frame& frame);
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
};

}  // namespace dlcp::datapath::sim
