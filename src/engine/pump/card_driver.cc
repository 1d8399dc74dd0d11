#include "engine/pump/card_driver.h"

#include <algorithm>

namespace dlcp::engine {
namespace {

datapath::LinkId link_of(core::LinkId link) {
  return static_cast<datapath::LinkId>(link);
}

core::PermissionEvent::Kind kind_of(datapath::PermissionEvent::Kind kind) {
  using From = datapath::PermissionEvent::Kind;
  using To = core::PermissionEvent::Kind;
  return kind == From::kGranted   ? To::kGranted
         : kind == From::kRefused ? To::kRefused
                                  : To::kRevoked;
}

}  // namespace

// ---- the core's view of the card ----

core::LinkId CardDriver::open_link(const wire::EndpointAddress& peer, Duration round_trip) {
  const auto link = placer_.open_link(peer, round_trip);
  if (!link) {
    if (round_trip > Duration::zero()) news_.copied(peer, link.error().what);
    return 0;
  }
  const auto id = static_cast<core::LinkId>(link.value());
  if (round_trip > Duration::zero()) news_.opened(id, peer);
  return id;
}

void CardDriver::close_link(core::LinkId link) {
  placer_.close_link(link_of(link));
  news_.closed(link);
}

// A class without paths travels in ordinary packets, so a failure needs no further treatment.
void CardDriver::widen(core::LinkId link, TrafficClass traffic_class, std::size_t paths) {
  (void)placer_.widen(link_of(link), traffic_class, paths);
}

wire::LinkPaths CardDriver::paths(core::LinkId link, TrafficClass traffic_class) const {
  return placer_.paths(link_of(link), traffic_class);
}

bool CardDriver::awaits_peer(core::LinkId link) const {
  return placer_.awaits_peer(link_of(link));
}

std::vector<std::byte> CardDriver::introduction(core::LinkId link) const {
  const datapath::Introduction introduction = placer_.introduction(link_of(link));
  const auto view = introduction.view();
  return {view.begin(), view.end()};
}

std::uint32_t CardDriver::introduction_version(core::LinkId link) const {
  return placer_.introduction_version(link_of(link));
}

bool CardDriver::connect(core::LinkId link, std::span<const std::byte> introduction) {
  const Status connected = placer_.connect(link_of(link), introduction);
  const std::size_t paths = placer_.paths(link_of(link), TrafficClass::kExact).count();
  if (connected || paths > 0)
    news_.connected(link, paths);
  else
    news_.failed(link, connected.error().what);
  return static_cast<bool>(connected);
}

core::Card::Limits CardDriver::limits(core::LinkId link) const {
  const datapath::LinkLimits limits = placer_.link_limits(link_of(link));
  return {limits.payload_bytes_max, limits.packets_per_path_max, limits.is_reliable};
}

std::uint32_t CardDriver::failures(core::LinkId link, TrafficClass traffic_class,
                                   wire::PathIndex path) const {
  return placer_.failures(link_of(link), traffic_class, path);
}

core::PermissionId CardDriver::permit(core::LinkId link, std::span<std::byte> memory) {
  return static_cast<core::PermissionId>(placer_.permit(link_of(link), memory));
}

void CardDriver::revoke(core::PermissionId id) {
  placer_.revoke(static_cast<datapath::PermissionId>(id));
}

bool CardDriver::is_device_memory(std::span<const std::byte> memory) {
  return placer_.is_gpu_memory(memory);
}

bool CardDriver::can_place_from(std::span<const std::byte> memory) {
  return placer_.can_place_from(memory);
}

void CardDriver::copies(const wire::EndpointAddress& peer, std::string_view why) {
  news_.copied(peer, why);
}

// ---- packets ----

std::size_t CardDriver::place(std::span<const wire::TxPacket> packets) {
  const std::size_t count = std::min(packets.size(), packets_.size());
  for (std::size_t i = 0; i < count; ++i) {
    const wire::TxPacket& packet = packets[i];
    const wire::PlacedTarget target = wire::placed_target(packet);
    packets_[i] = {.way = {link_of(target.link), packet.traffic_class, packet.path},
                   .index = datapath::PlacedIndex::unpack(target.name),
                   .address = target.address,
                   .key = target.key,
                   .payload = packet.payload};
  }
  return placer_.place(std::span(packets_).first(count));
}

std::size_t CardDriver::send(datapath::Datapath& datapath,
                             std::span<const wire::TxPacket> packets) {
  std::size_t sent = 0;
  while (sent < packets.size()) {
    const auto rest = packets.subspan(sent);
    const bool placed = wire::is_placed(rest.front());
    const auto end = std::ranges::find_if(
        rest, [&](const wire::TxPacket& packet) { return wire::is_placed(packet) != placed; });
    const auto run = rest.first(std::min<std::size_t>(static_cast<std::size_t>(end - rest.begin()),
                                                      placed ? kBatch : rest.size()));
    const std::size_t taken = placed ? place(run) : datapath.send(run);
    sent += taken;
    if (taken < run.size()) break;
  }
  return sent;
}

std::span<const wire::PlacedRun> CardDriver::poll_runs(Time now) {
  const std::size_t count = placer_.placed(now, reported_runs_);
  for (std::size_t i = 0; i < count; ++i) {
    const datapath::PlacedRun& run = reported_runs_[i];
    runs_[i] = {.link = static_cast<core::LinkId>(run.way.link),
                .path = run.way.path,
                .name = run.first.pack(),
                .packets = run.packets,
                .bytes = run.bytes,
                .arrived_at = run.arrived_at};
  }
  return std::span(runs_).first(count);
}

std::span<const core::PermissionEvent> CardDriver::poll_events(Time now) {
  const std::size_t count = placer_.poll_permissions(now, reported_events_);
  for (std::size_t i = 0; i < count; ++i) {
    const datapath::PermissionEvent& event = reported_events_[i];
    events_[i] = {static_cast<core::PermissionId>(event.id), kind_of(event.kind),
                  event.permission.address, event.permission.key};
  }
  return std::span(events_).first(count);
}

}  // namespace dlcp::engine
