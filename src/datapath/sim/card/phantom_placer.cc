#include "datapath/sim/card/phantom_placer.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "datapath/link_sizes.h"
#include "datapath/sim/card/placed_runs.h"
#include "util/memory/overlap.h"

namespace dlcp::datapath::sim {
namespace {

constexpr std::uint32_t kPayloadBytesMax = 4096;
// To bind a memory window, and to unbind it. An assumption: no hardware was measured.
constexpr Duration kPermissionTime = 2us;

std::size_t index_of(TrafficClass traffic_class) {
  return static_cast<std::size_t>(traffic_class);
}

}  // namespace

// ---- links ----

Result<LinkId> PhantomPlacer::open_link(const wire::EndpointAddress& peer, Duration) {
  if (kLinkQueuePairsMax - open_ < kPathsPerLinkMin)
    return Error{ErrorCode::kSystem, "no room for another link", ""};
  const LinkId id{++last_link_};
  Link& link = links_[id];
  link.peer = peer;
  link.own.link = id;
  return id;
}

std::size_t PhantomPlacer::paths_allowed(const Link& link) const {
  const std::size_t room = kLinkQueuePairsMax - open_;
  const std::size_t share = room > kLinkQueuePairsMax / 2 ? kPathsPerLinkMax : kPathsPerLinkMin;
  const auto used = std::accumulate(link.own.open.begin(), link.own.open.end(), std::size_t{0});
  return std::min(share - std::min(used, share), room);
}

Status PhantomPlacer::widen(LinkId id, TrafficClass traffic_class, std::size_t paths) {
  const auto found = links_.find(id);
  if (found == links_.end()) return Unit{};
  Link& link = found->second;
  std::uint8_t& open = link.own.open[index_of(traffic_class)];
  const std::size_t wanted = std::min({paths, paths_, kPathsPerClassMax});
  for (; open < wanted && paths_allowed(link) > 0; ++open_, ++link.version)
    ++open;
  return Unit{};
}

Introduction PhantomPlacer::introduction(LinkId id) const {
  Introduction introduction;
  const auto found = links_.find(id);
  if (found == links_.end()) return introduction;
  introduction.size = sizeof(Words);
  std::memcpy(introduction.bytes.data(), &found->second.own, sizeof(Words));
  return introduction;
}

std::uint32_t PhantomPlacer::introduction_version(LinkId id) const {
  const auto found = links_.find(id);
  return found == links_.end() ? 0 : found->second.version;
}

Status PhantomPlacer::connect(LinkId id, std::span<const std::byte> introduction) {
  const auto found = links_.find(id);
  if (found == links_.end() || introduction.size() != sizeof(Words))
    return Error{ErrorCode::kInvalidUsage, "not an introduction of a simulated card", ""};
  Link& link = found->second;
  Words words;
  std::memcpy(&words, introduction.data(), sizeof words);
  link.theirs.link = words.link;
  for (std::size_t c = 0; c < kTrafficClassCount; ++c) {  // introductions only grow
    link.theirs.open[c] = std::max(link.theirs.open[c], words.open[c]);
    link.theirs.connected[c] = std::max(link.theirs.connected[c], words.connected[c]);
    if (auto widened = widen(id, static_cast<TrafficClass>(c), link.theirs.open[c]); !widened)
      return widened;
    const std::uint8_t both = std::min(link.own.open[c], link.theirs.open[c]);
    if (both > link.own.connected[c]) ++link.version;
    link.own.connected[c] = std::max(link.own.connected[c], both);
  }
  return Unit{};
}

wire::LinkPaths PhantomPlacer::paths(LinkId id, TrafficClass traffic_class) const {
  const auto found = links_.find(id);
  if (found == links_.end()) return {};
  const std::size_t c = index_of(traffic_class);
  return wire::LinkPaths::first(
      std::min(found->second.own.connected[c], found->second.theirs.connected[c]));
}

LinkLimits PhantomPlacer::link_limits(LinkId id) const {
  const auto found = links_.find(id);
  if (found == links_.end() || found->second.theirs.link == LinkId::kNone) return {};
  return {kPayloadBytesMax, kSendsPerPath};
}

void PhantomPlacer::close_link(LinkId id) {
  const auto found = links_.find(id);
  if (found == links_.end()) return;
  std::erase_if(permits_, [&](const auto& permit) { return permit.second.link == id; });
  const Counts& open = found->second.own.open;
  open_ -= std::accumulate(open.begin(), open.end(), std::size_t{0});
  links_.erase(found);
}

// ---- permissions ----

void PhantomPlacer::report(PermissionId id, PermissionEvent::Kind kind) {
  const auto& memory = permits_.at(id).memory;
  reports_.push_back(
      {now_ + kPermissionTime,
       {id,
        kind,
        {reinterpret_cast<std::uintptr_t>(memory.data()), static_cast<std::uint32_t>(id),
         static_cast<std::uint32_t>(memory.size())}}});
}

PermissionId PhantomPlacer::permit(LinkId link, std::span<std::byte> memory) {
  const PermissionId id{++last_permit_};
  permits_[id] = {link, memory};
  report(id, PermissionEvent::Kind::kGranted);
  return id;
}

void PhantomPlacer::revoke(PermissionId id) {
  const auto found = permits_.find(id);
  if (found == permits_.end() || std::exchange(found->second.revoking, true)) return;
  std::erase_if(reports_, [&](const Report& report) { return report.event.id == id; });
  report(id, PermissionEvent::Kind::kRevoked);
}

void PhantomPlacer::revoke_all(std::span<const std::byte> memory) {
  for (const auto& [id, permit] : permits_)
    if (overlap(permit.memory, memory)) revoke(id);
}

std::size_t PhantomPlacer::poll_permissions(Time now, std::span<PermissionEvent> out) {
  now_ = now;
  std::size_t count = 0;
  for (; count < out.size() && !reports_.empty() && reports_.front().due <= now; ++count) {
    out[count] = reports_.front().event;
    if (out[count].kind == PermissionEvent::Kind::kRevoked) permits_.erase(out[count].id);
    reports_.pop_front();
  }
  return count;
}

// ---- packets ----

std::size_t PhantomPlacer::place(std::span<const PlacedPacket> packets) {
  std::size_t taken = 0;
  for (; taken < packets.size(); ++taken) {
    const PlacedPacket& packet = packets[taken];
    const auto found = links_.find(packet.way.link);
    if (found == links_.end()) continue;
    const Head head{found->second.theirs.link,
                    packet.index.pack(),
                    packet.key,
                    packet.way.traffic_class,
                    packet.way.path,
                    static_cast<std::uint32_t>(packet.payload.size())};
    if (!emit_(found->second.peer, head)) break;
  }
  return taken;
}

void PhantomPlacer::take(Time now, const Head& packet) {
  const auto found = permits_.find(PermissionId{packet.key});
  if (found == permits_.end()) return;
  const PlacedRun one{.way = {packet.link, packet.traffic_class, packet.path},
                      .first = PlacedIndex::unpack(packet.name),
                      .packets = 1,
                      .bytes = packet.bytes,
                      .arrived_at = now};
  if (arrived_.empty() || !follows(arrived_.back(), one)) {
    arrived_.push_back(one);
    return;
  }
  PlacedRun& run = arrived_.back();
  ++run.packets;
  run.bytes += one.bytes;
  run.arrived_at = now;
}

std::size_t PhantomPlacer::placed(Time now, std::span<PlacedRun> out) {
  now_ = now;
  const std::size_t count = std::min(out.size(), arrived_.size());
  const auto end = arrived_.begin() + static_cast<std::ptrdiff_t>(count);
  std::copy(arrived_.begin(), end, out.begin());
  arrived_.erase(arrived_.begin(), end);
  return count;
}

Time PhantomPlacer::next_report() const {
  if (!arrived_.empty()) return now_;
  return reports_.empty() ? kNever : reports_.front().due;
}

}  // namespace dlcp::datapath::sim
