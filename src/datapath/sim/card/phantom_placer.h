// A card that places data (placer.h) for simulations in which payloads are only lengths. Its
// limits are those of datapath/verbs/placement: queue pairs of a device and of a link, and packets
// in flight on one path. Permissions need a constant time. The owner carries the packets.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>

#include "datapath/placer.h"

namespace dlcp::datapath::sim {

class PhantomPlacer final : public Placer {
 public:
  // A placed packet, as the peer's card needs it.
  struct Head {
    LinkId link = LinkId::kNone;  // of the receiver
    std::uint32_t name = 0;       // the immediate
    std::uint32_t key = 0;
    TrafficClass traffic_class = TrafficClass::kExact;
    wire::PathIndex path = 0;
    std::uint32_t bytes = 0;  // of the payload
  };
  // False: it was not sent, because the queue is full.
  using Emit = std::function<bool(const wire::EndpointAddress& peer, const Head& packet)>;

  PhantomPlacer(std::size_t paths, Emit emit) : paths_(paths), emit_(std::move(emit)) {}

  // IP, UDP, BTH, RETH, immediate and ICRC, with IPv4.
  static constexpr std::size_t kHeaderBytes = 20 + 8 + 12 + 16 + 4 + 4;

  // A packet has arrived.
  void take(Time now, const Head& packet);
  // When placed() or poll_permissions() has something to report.
  Time next_report() const;

  Result<LinkId> open_link(const wire::EndpointAddress& peer, Duration round_trip) override;
  Status widen(LinkId link, TrafficClass traffic_class, std::size_t paths) override;
  Introduction introduction(LinkId link) const override;
  std::uint32_t introduction_version(LinkId link) const override;
  Status connect(LinkId link, std::span<const std::byte> introduction) override;
  wire::LinkPaths paths(LinkId link, TrafficClass traffic_class) const override;
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
  using Counts = std::array<std::uint8_t, kTrafficClassCount>;
  // The content of an introduction: queue pairs by class, and how many of them are connected.
  struct Words {
    LinkId link = LinkId::kNone;
    Counts open{};
    Counts connected{};
  };
  struct Link {
    wire::EndpointAddress peer;
    Words own, theirs;
    std::uint32_t version = 1;
  };
  struct Permit {
    LinkId link = LinkId::kNone;
    std::span<const std::byte> memory;
    bool revoking = false;
  };
  struct Report {
    Time due;
    PermissionEvent event;
  };
  std::size_t paths_allowed(const Link& link) const;
  void report(PermissionId id, PermissionEvent::Kind kind);

  const std::size_t paths_;
  const Emit emit_;
  Time now_{};
  std::size_t open_ = 0;  // queue pairs
  std::map<LinkId, Link> links_;
  std::uint32_t last_link_ = 0;
  std::map<PermissionId, Permit> permits_;
  std::uint32_t last_permit_ = 0;  // also the key
  std::deque<PlacedRun> arrived_;
  std::deque<Report> reports_;
};

}  // namespace dlcp::datapath::sim
