// Joins the protocol core with a datapath whose card places data (datapath/placer.h): the core's
// view of the card, the packets that it sends, and what it reports.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "core/placement/card.h"
#include "datapath/datapath.h"
#include "datapath/placer.h"
#include "engine/pump/placing_news.h"
#include "wire/data/placed_packet.h"

namespace dlcp::engine {

class CardDriver final : public core::Card {
 public:
  explicit CardDriver(datapath::Placer& placer) : placer_(placer) {}

  core::LinkId open_link(const wire::EndpointAddress& peer, Duration round_trip) override;
  void close_link(core::LinkId link) override;
  void widen(core::LinkId link, TrafficClass traffic_class, std::size_t paths) override;
  wire::LinkPaths paths(core::LinkId link, TrafficClass traffic_class) const override;
  bool awaits_peer(core::LinkId link) const override;
  std::vector<std::byte> introduction(core::LinkId link) const override;
  std::uint32_t introduction_version(core::LinkId link) const override;
  bool connect(core::LinkId link, std::span<const std::byte> introduction) override;
  Limits limits(core::LinkId link) const override;
  std::uint32_t failures(core::LinkId link, TrafficClass traffic_class,
                         wire::PathIndex path) const override;
  core::PermissionId permit(core::LinkId link, std::span<std::byte> memory) override;
  void revoke(core::PermissionId id) override;
  bool is_device_memory(std::span<const std::byte> memory) override;
  bool can_place_from(std::span<const std::byte> memory) override;
  void copies(const wire::EndpointAddress& peer, std::string_view why) override;

  // Sends packets of both kinds in order; returns how many were accepted.
  std::size_t send(datapath::Datapath& datapath, std::span<const wire::TxPacket> packets);

  // Reports of the card since the last call, at most kBatch; fewer: nothing is left.
  static constexpr std::size_t kBatch = 64;
  std::span<const wire::PlacedRun> poll_runs(Time now);
  std::span<const core::PermissionEvent> poll_events(Time now);
  // True if poll_events() is due although the datapath's descriptor may not become readable.
  bool awaits_poll() const { return placer_.awaits_poll(); }
  PlacingNews& news() { return news_; }

 private:
  std::size_t place(std::span<const wire::TxPacket> packets);

  datapath::Placer& placer_;
  PlacingNews news_;
  std::array<datapath::PlacedPacket, kBatch> packets_;
  std::array<datapath::PlacedRun, kBatch> reported_runs_;
  std::array<datapath::PermissionEvent, kBatch> reported_events_;
  std::array<wire::PlacedRun, kBatch> runs_;
  std::array<core::PermissionEvent, kBatch> events_;
};

}  // namespace dlcp::engine
