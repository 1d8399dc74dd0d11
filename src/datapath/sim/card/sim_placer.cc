#include "datapath/sim/card/sim_placer.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "datapath/sim/card/placed_runs.h"
#include "datapath/sim/sim_datapath.h"
#include "util/hash/crc32c.h"
#include "util/memory/overlap.h"

namespace dlcp::datapath::sim {
namespace {

std::uint32_t bit_of(TrafficClass traffic_class) {
  return 1u << static_cast<unsigned>(traffic_class);
}

Duration up_to(Rng& rng, Duration most) {
  return Duration(std::int64_t(rng.below(std::uint64_t(most.count()) + 1)));
}

}  // namespace

// ---- links ----

const SimPlacer::Link* SimPlacer::find(LinkId link) const {
  const auto found = links_.find(link);
  return found == links_.end() ? nullptr : &found->second;
}

Result<LinkId> SimPlacer::open_link(const wire::EndpointAddress& peer, Duration round_trip) {
  const auto host = host_at(peer);
  if (!host) return Error{ErrorCode::kInvalidUsage, "not the address of a simulated host", ""};
  Link& link = links_[LinkId{++last_link_}];
  link.peer = *host;
  link.own.link = last_link_;
  if (config_.is_reliable) link.own.epochs.fill(1);
  reliable_.open(LinkId{last_link_}, round_trip);
  return LinkId{last_link_};
}

Status SimPlacer::widen(LinkId link, TrafficClass traffic_class, std::size_t) {
  const auto found = links_.find(link);
  if (found == links_.end()) return Unit{};
  Words& own = found->second.own;
  if ((own.classes & bit_of(traffic_class)) != 0) return Unit{};
  own.classes |= bit_of(traffic_class);
  ++found->second.version;
  return Unit{};
}

Introduction SimPlacer::introduction(LinkId link) const {
  Introduction introduction;
  const Link* found = find(link);
  if (found == nullptr) return introduction;
  introduction.size = sizeof found->own;
  std::memcpy(introduction.bytes.data(), &found->own, sizeof found->own);
  return introduction;
}

std::uint32_t SimPlacer::introduction_version(LinkId link) const {
  const Link* found = find(link);
  return found == nullptr ? 0 : found->version;
}

Status SimPlacer::connect(LinkId id, std::span<const std::byte> introduction) {
  const auto found = links_.find(id);
  Words words;
  if (found == links_.end() || introduction.size() != sizeof words)
    return Error{ErrorCode::kInvalidUsage, "not an introduction of a simulated card", ""};
  std::memcpy(&words, introduction.data(), sizeof words);
  Link& link = found->second;
  // Epochs only grow, and the introduction may be an old one.
  for (std::size_t path = 0; path < words.epochs.size(); ++path) {
    words.epochs[path] = std::max(words.epochs[path], link.theirs.epochs[path]);
    words.heard_epochs[path] = std::max(words.heard_epochs[path], link.theirs.heard_epochs[path]);
  }
  link.theirs = words;
  introduce_paths(id, link);
  if (link.own.heard_link != words.link || link.own.heard_classes != words.classes) ++link.version;
  link.own.heard_link = words.link;
  link.own.heard_classes = words.classes;
  return Unit{};
}

// Tells the peer which of its paths this card has heard of, and which paths it has itself.
void SimPlacer::introduce_paths(LinkId id, Link& link) {
  if (!config_.is_reliable) return;
  const auto before = std::pair(link.own.epochs, link.own.heard_epochs);
  for (std::size_t path = 0; path < ReliablePaths::kPathsMax; ++path) {
    const ReliablePaths::Key key{id, static_cast<wire::PathIndex>(path)};
    link.own.epochs[path] = reliable_.epoch(key);
    link.own.heard_epochs[path] = link.theirs.epochs[path];
    reliable_.begin(key, link.theirs.epochs[path]);
  }
  if (before != std::pair(link.own.epochs, link.own.heard_epochs)) ++link.version;
}

std::uint32_t SimPlacer::failures(LinkId id, TrafficClass, wire::PathIndex path) const {
  return config_.is_reliable ? reliable_.failures({id, path}) : 0;
}

bool SimPlacer::is_joined(LinkId id, const Link& link, std::size_t path) const {
  return path < ReliablePaths::kPathsMax &&
         link.theirs.heard_epochs[path] ==
             reliable_.epoch({id, static_cast<wire::PathIndex>(path)});
}

// The paths that both sides know.
wire::LinkPaths SimPlacer::shared(LinkId id, TrafficClass traffic_class) const {
  const Link* link = find(id);
  const bool heard = link != nullptr && link->theirs.heard_link == link->own.link &&
                     (link->theirs.heard_classes & bit_of(traffic_class)) != 0;
  const std::size_t most = config_.is_reliable ? ReliablePaths::kPathsMax : paths_;
  return wire::LinkPaths::first(heard ? std::min({most, paths_, config_.paths_max}) : 0);
}

wire::LinkPaths SimPlacer::paths(LinkId id, TrafficClass traffic_class) const {
  const wire::LinkPaths known = shared(id, traffic_class);
  if (!config_.is_reliable || known.empty()) return known;
  wire::LinkPaths joined;
  for (std::size_t path = 0; path < ReliablePaths::kPathsMax; ++path)
    if (known.has(path) && is_joined(id, *find(id), path)) joined.add(path);
  return joined;
}

bool SimPlacer::awaits_peer(LinkId id) const {
  const auto exact = TrafficClass::kExact;  // others are not placed over reliable links
  return config_.is_reliable && paths(id, exact) != shared(id, exact);
}

LinkLimits SimPlacer::link_limits(LinkId id) const {
  const Link* link = find(id);
  if (link == nullptr || link->theirs.link == 0) return {};
  return {static_cast<std::uint32_t>(payload_bytes_max_),
          static_cast<std::uint32_t>(config_.receives_per_path), config_.is_reliable};
}

void SimPlacer::close_link(LinkId id) {
  std::vector<PermissionId> ids;
  for (const auto& [permission, permit] : permits_)
    if (permit.link == id) ids.push_back(permission);
  for (const PermissionId permission : ids)
    end(permission, false);
  links_.erase(id);
  reliable_.close(id);
}

// ---- permissions ----

PermissionId SimPlacer::permit(LinkId link, std::span<std::byte> memory) {
  const PermissionId id{++last_permit_};
  if (rng_.chance(config_.refused)) {
    reports_.push_back({id, PermissionEvent::Kind::kRefused, {}});
    return id;
  }
  Permit& permit = permits_[id];
  permit.link = link;
  permit.memory = memory;
  permit.key = ++last_key_;  // never twice
  by_key_[permit.key] = id;
  permit.granted_at = events_.now() + config_.grant_delay;
  events_.schedule(permit.granted_at, *this);
  return id;
}

void SimPlacer::revoke(PermissionId id) {
  const auto found = permits_.find(id);
  if (found == permits_.end()) return;
  found->second.dies_at = events_.now() + config_.revoke_delay;
  events_.schedule(found->second.dies_at, *this);
}

// Ends a permission at once: writes in progress are made now.
void SimPlacer::end(PermissionId id, bool report) {
  finish_due(events_.now(), id);
  by_key_.erase(permits_[id].key);
  permits_.erase(id);
  std::erase_if(reports_, [&](const PermissionEvent& event) { return event.id == id; });
  if (report) reports_.push_back({id, PermissionEvent::Kind::kRevoked, {}});
}

void SimPlacer::revoke_all(std::span<const std::byte> memory) {
  std::vector<PermissionId> ids;
  for (const auto& [id, permit] : permits_)
    if (overlap(permit.memory, memory)) ids.push_back(id);
  for (const PermissionId id : ids)
    end(id, true);
}

std::size_t SimPlacer::poll_permissions(Time, std::span<PermissionEvent> out) {
  const std::size_t count = std::min(out.size(), reports_.size());
  std::copy_n(reports_.begin(), count, out.begin());
  reports_.erase(reports_.begin(), reports_.begin() + static_cast<std::ptrdiff_t>(count));
  return count;
}

// ---- packets ----

std::size_t SimPlacer::place(std::span<const PlacedPacket> packets) {
  std::size_t taken = 0;
  for (const PlacedPacket& packet : packets) {
    const Link* link = find(packet.way.link);
    const bool is_hole = (config_.black_holes >> packet.way.path & 1) != 0;
    const bool is_lost =
        config_.is_reliable ? link == nullptr || !is_joined(packet.way.link, *link, packet.way.path)
                            : is_hole;
    if (link == nullptr || packet.payload.empty() || packet.payload.size() > payload_bytes_max_ ||
        is_lost) {
      ++taken;
      continue;
    }
    auto frame = std::make_unique<Frame>();
    frame->bytes.assign(packet.payload.begin(), packet.payload.end());
    frame->placed = PlacedHead{.link = link->theirs.link,
                               .name = packet.index.pack(),
                               .address = packet.address,
                               .key = packet.key,
                               .traffic_class = packet.way.traffic_class,
                               .checksum = crc32c(frame->bytes)};
    if (!nic_.has_room(frame->wire_bytes())) break;
    const auto& row = row_of(packet.way.traffic_class);
    frame->source = host_;
    frame->source_path = packet.way.path;
    frame->destination = link->peer;
    frame->destination_path = packet.way.path;
    frame->dscp = row.dscp;
    frame->ecn = row.ecn;
    if (config_.is_reliable)
      reliable_.post(events_.now(), {packet.way.link, packet.way.path}, std::move(*frame));
    else
      nic_.enqueue(events_.now(), std::move(frame));
    ++counters_.sent;
    ++taken;
  }
  return taken;
}

// A packet, or its repetition, or an answer on a reliable path.
void SimPlacer::send(Time now, const ReliablePaths::Key& key, const Frame& frame) {
  const Link* link = find(key.first);
  if (link == nullptr || (config_.black_holes >> key.second & 1) != 0) return;
  auto copy = std::make_unique<Frame>(frame);
  copy->source = host_;
  copy->destination = link->peer;
  copy->source_path = copy->destination_path = key.second;
  copy->placed->link = link->theirs.link;
  if (nic_.has_room(copy->wire_bytes())) nic_.enqueue(now, std::move(copy));
}

void SimPlacer::on_event(Time now, FramePtr frame) {
  if (frame) take(now, *frame);
  finish_due(now);
  const std::size_t failed = config_.is_reliable ? reliable_.on_timer(now) : 0;
  counters_.paths_failed += failed;
  if (failed == 0) return;
  for (auto& [id, link] : links_)
    introduce_paths(id, link);
}

bool SimPlacer::is_alive(Time now, std::uint32_t key) const {
  const auto found = by_key_.find(key);
  return found != by_key_.end() && now - permits_.at(found->second).dies_at < config_.key_outlives;
}

// False: the packet places nothing.
bool SimPlacer::take_reliable(Time now, Frame& frame) {
  const ReliablePaths::Key key{LinkId{frame.placed->link}, frame.destination_path};
  if (frame.placed->kind != PlacedHead::Kind::kReliable) {
    reliable_.on_answer(now, key, *frame.placed);
    return false;
  }
  if (reliable_.look(now, key, frame) != ReliablePaths::Verdict::kNext) return false;
  if (is_alive(now, frame.placed->key)) return true;
  ++counters_.dead_keys;
  reliable_.refuse(now, key, frame);
  return false;
}

void SimPlacer::take(Time now, Frame& frame) {
  const PlacedHead& head = *frame.placed;
  if (crc32c(frame.bytes) != head.checksum) {
    ++counters_.damaged;
    return;
  }
  const LinkId link{head.link};
  if (find(link) == nullptr) return;
  const bool is_reliable = head.kind != PlacedHead::Kind::kUnreliable;
  if (is_reliable && !take_reliable(now, frame)) return;
  const LinkPath way{link, head.traffic_class, frame.destination_path};
  if (!is_alive(now, head.key)) {
    ++counters_.dead_keys;
    return;
  }
  const PermissionId id = by_key_.at(head.key);
  std::size_t& waiting = waiting_[{way.link, way.traffic_class, way.path}];
  if (waiting >= config_.receives_per_path) {
    ++counters_.without_receive;
    return;
  }
  const Permit& permit = permits_[id];
  const std::uint64_t offset = head.address - reinterpret_cast<std::uint64_t>(permit.memory.data());
  if (offset > permit.memory.size() || frame.bytes.size() > permit.memory.size() - offset) return;
  ++waiting;
  Time done_at = now + up_to(rng_, config_.write_time_max);
  if (is_reliable) {  // in order
    reliable_.take(now, {link, way.path}, frame);
    for (const InProgress& before : in_progress_)
      if (before.report.way == way) done_at = std::max(done_at, before.done_at);
  }
  in_progress_.push_back({.done_at = done_at,
                          .id = id,
                          .to = permit.memory.subspan(offset, frame.bytes.size()),
                          .payload = std::move(frame.bytes),
                          .report = {.way = way,
                                     .first = PlacedIndex::unpack(head.name),
                                     .packets = 1,
                                     .bytes = 0,
                                     .arrived_at = now}});
  in_progress_.back().report.bytes = static_cast<std::uint32_t>(in_progress_.back().payload.size());
  if (in_progress_.back().done_at > now) events_.schedule(in_progress_.back().done_at, *this);
}

void SimPlacer::finish(Time now, InProgress& write) {
  if (write_)
    write_(now, write.to, write.payload);
  else
    std::copy(write.payload.begin(), write.payload.end(), write.to.begin());
  ++counters_.placed;
  counters_.bytes_placed += write.payload.size();
  arrived_.push_back(write.report);
}

// Makes the writes that are due, or that use the permission `forced`; then ends permissions.
void SimPlacer::finish_due(Time now, PermissionId forced) {
  for (auto write = in_progress_.begin(); write != in_progress_.end();) {
    if (write->done_at > now && write->id != forced) {
      ++write;
      continue;
    }
    finish(now, *write);
    write = in_progress_.erase(write);
  }
  for (auto permit = permits_.begin(); permit != permits_.end();) {
    const PermissionId id = permit->first;
    Permit& held = permit->second;
    if (held.granted_at <= now && !std::exchange(held.granted, true)) {
      ++counters_.granted;
      reports_.push_back({id,
                          PermissionEvent::Kind::kGranted,
                          {reinterpret_cast<std::uint64_t>(held.memory.data()), held.key,
                           static_cast<std::uint32_t>(held.memory.size())}});
    }
    const bool busy =
        config_.revoking_waits &&
        std::ranges::any_of(in_progress_, [&](const InProgress& write) { return write.id == id; });
    if (held.dies_at > now || busy || id == forced) {
      ++permit;
      continue;
    }
    if (!std::exchange(held.reported, true)) {
      reports_.push_back({id, PermissionEvent::Kind::kRevoked, {}});
      ++counters_.revoked;
    }
    if (now - held.dies_at < config_.key_outlives) {
      ++permit;
      continue;
    }
    by_key_.erase(held.key);
    permit = permits_.erase(permit);
  }
}

std::size_t SimPlacer::placed(Time, std::span<PlacedRun> out) {
  std::size_t count = 0;
  while (!arrived_.empty()) {
    const PlacedRun& next = arrived_.front();
    if (count > 0 && follows(out[count - 1], next)) {
      ++out[count - 1].packets;
      out[count - 1].bytes += next.bytes;
      out[count - 1].arrived_at = next.arrived_at;
    } else {
      if (count == out.size()) break;
      out[count++] = next;
    }
    --waiting_[{next.way.link, next.way.traffic_class, next.way.path}];
    arrived_.pop_front();
  }
  return count;
}

}  // namespace dlcp::datapath::sim
