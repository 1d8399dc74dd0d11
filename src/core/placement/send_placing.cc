#include "core/placement/send_placing.h"

#include <bit>
#include <utility>

#include "wire/data/data_header.h"

namespace dlcp::core {
namespace {

// LINK is repeated without end, after pauses that double up to kRetryPauseMost: the answers may be
// lost for seconds, for example while a large mesh opens. After kEarlyTries, which take 2 s, the
// peer probably has no such card.
constexpr Duration kFirstTryPause = 500us;
constexpr unsigned kEarlyTries = 12;
constexpr unsigned kDoublingsMax = 17;  // 65 s
// If no ACK names any of this many packets, placed packets may not reach the peer. Then only one is
// tried in each kLatePause, until an ACK names one. The second value applies after the first
// report; it is 16 MiB in packets of 4 KiB, more than is in flight between two acknowledgements.
constexpr std::uint32_t kUnprovenMax = 256;
constexpr std::uint32_t kUnreportedMax = 4096;
// Over a reliable link: how often paths are looked at while no ACK arrives, and how often LINK is
// sent while paths that have failed are not connected again, after the first attempts.
constexpr Duration kLookPause = 10ms;
constexpr Duration kLatePause = 1s;
// After a failed attempt to connect, the pause until the next one doubles between these: an attempt
// may keep the lane busy for two seconds, while the peer's address is resolved.
constexpr Duration kRetryPauseLeast = 4s;
constexpr Duration kRetryPauseMost = 64s;
// The receiver extends the 32 bits of a packet number from the ordinary packets of the path. So at
// least one in this many packets is an ordinary one.
constexpr std::uint64_t kPlacedInRowMax = std::uint64_t{1} << 24;

}  // namespace

SendPlacing::SendPlacing(Time now, Card& card, const wire::EndpointAddress& peer, std::size_t paths,
                         Duration round_trip)
    : card_(card),
      peer_(peer),
      link_(card.open_link(peer, round_trip)),
      paths_(paths),
      unreported_max_(kUnprovenMax) {
  if (link_ != 0) paths_of(now, TrafficClass::kExact);
}

// ---- link ----

// The paths of a class are made when its first packet is sent; until they can be used, the class
// uses ordinary packets.
const SendPlacing::Usable& SendPlacing::paths_of(Time now, TrafficClass traffic_class) {
  const auto index = static_cast<std::size_t>(traffic_class);
  if (!widened_[index]) {
    widened_[index] = true;
    card_.widen(link_, traffic_class, paths_);
    next_link_ = now;
    tries_ = 0;
  }
  return usable_[index];
}

// Paths become fewer if queue pairs fail, and more when these are repaired. Returns true if all
// classes that are in use have some.
bool SendPlacing::update_paths() {
  bool all = true;
  for (std::size_t i = 0; i < widened_.size(); ++i) {
    if (!widened_[i]) continue;
    wire::LinkPaths paths = card_.paths(link_, static_cast<TrafficClass>(i));
    paths.bits &= wire::LinkPaths::first(paths_).bits;  // the peer may have introduced more
    all = all && !paths.empty();
    if (paths == usable_[i].paths) continue;
    usable_[i].paths = paths;
    for (std::size_t path = 0, count = 0; path < wire::LinkPaths::kMax; ++path)
      if (paths.has(path)) usable_[i].list[count++] = static_cast<wire::PathIndex>(path);
  }
  return all;
}

void SendPlacing::on_link(Time now, const wire::Link& frame, Flight& flight) {
  if (link_ == 0) return;
  if (retry_pause_ > Duration::zero() && tries_ == 0) return;  // another answer to the same LINK
  const bool connected = card_.connect(link_, frame.introduction);
  retry_pause_ = connected ? Duration::zero()
                           : std::clamp(2 * retry_pause_, kRetryPauseLeast, kRetryPauseMost);
  if (!connected) {
    next_link_ = now + retry_pause_;
    tries_ = 0;
    failed_version_ = card_.introduction_version(link_);
  }
  if (!connected && card_.paths(link_, TrafficClass::kExact).empty()) return;
  limits_ = card_.limits(link_);
  const bool all_classes = update_paths();
  if (connected && all_classes && !card_.awaits_peer(link_)) next_link_ = kNever;
  if (connected && card_.introduction_version(link_) != sent_version_) next_link_ = now;
  look(now, flight);
}

// A queue pair of a path that has failed is replaced by another, of which the peer must be told.
void SendPlacing::look(Time now, Flight& flight) {
  if (!limits_.is_reliable) return;
  const wire::LinkPaths usable = usable_[static_cast<std::size_t>(TrafficClass::kExact)].paths;
  failures_.resize(
      std::max(failures_.size(), static_cast<std::size_t>(std::bit_width(usable.bits))));
  for (std::size_t path = 0; path < failures_.size(); ++path) {
    const auto index = static_cast<wire::PathIndex>(path);
    const std::uint32_t failures = card_.failures(link_, TrafficClass::kExact, index);
    if (std::exchange(failures_[path], failures) != failures) flight.on_path_failed(now, index);
  }
  const std::uint32_t version = card_.introduction_version(link_);
  if (version == sent_version_ || version == failed_version_) return;
  if (next_link_ == kNever) {
    next_link_ = now;
    tries_ = 0;
  }
  next_link_ = std::min(next_link_, now + kLatePause);
}

void SendPlacing::on_timeout(Time now, Flight& flight) {
  if (now < next_look_) return;
  update_paths();
  look(now, flight);
  next_look_ = flight.any_unknown() ? now + kLookPause : kNever;
}

wire::Link SendPlacing::take_link(Time now, std::uint64_t destination) {
  ++tries_;
  Duration pause =
      std::min(kFirstTryPause * (1 << std::min(tries_, kDoublingsMax)), kRetryPauseMost);
  if (tries_ >= kEarlyTries && limits_.is_reliable)
    pause = kLatePause;
  else if (tries_ >= kEarlyTries && retry_pause_ > Duration::zero())
    pause = retry_pause_;
  next_link_ = now + pause;
  sent_version_ = card_.introduction_version(link_);
  if (tries_ == kEarlyTries && limits_.payload_bytes_max == 0)
    card_.copies(peer_,
                 "it has not answered LINK for 2 s: its card places nothing (see its log), or its "
                 "host is very busy");
  return {destination, card_.introduction(link_)};
}

// ---- permissions ----

void SendPlacing::on_permit(const wire::Permit& permit, std::uint64_t message) {
  if (permit.slot >= permissions_.size()) permissions_.resize(permit.slot + std::size_t{1});
  Permission& known = permissions_[permit.slot];
  const auto newer = static_cast<std::int8_t>(permit.generation - known.permit.generation);
  if (known.given && newer <= 0) return;  // an old frame, or a repeated one
  update_paths();
  if (known.given) slots_.erase(key_of(known.permit.stream, known.message, known.permit.segment));
  known = {.given = true, .message = message, .permit = permit};
  slots_[key_of(permit.stream, message, permit.segment)] = permit.slot;
  last_key_.reset();
  last_ = nullptr;
}

SendPlacing::Permission* SendPlacing::find(const ChunkRef& chunk) {
  const std::uint32_t segment = chunk.chunk / wire::PlacedName::kSegmentChunks;
  const std::uint64_t key = key_of(chunk.stream, chunk.message, segment);
  if (key == last_key_) return last_;
  last_key_ = key;
  last_ = nullptr;
  const auto found = slots_.find(key);
  if (found == slots_.end()) return nullptr;
  Permission& permission = permissions_[found->second];
  const bool same = permission.permit.stream == chunk.stream &&
                    permission.message == chunk.message && permission.permit.segment == segment;
  return last_ = same ? &permission : nullptr;
}

std::optional<SendPlacing::Way> SendPlacing::way(Time now, const Flight& flight,
                                                 const ChunkRef& chunk, TrafficClass traffic_class,
                                                 std::span<const std::byte> whole,
                                                 std::uint32_t chunk_bytes, wire::PathIndex path) {
  Permission* permission = find(chunk);
  if (permission == nullptr || is_suspended(now)) return std::nullopt;
  if (!permission->checked) {
    permission->checked = true;
    permission->usable = card_.can_place_from(whole);
  }
  const Usable& usable = paths_of(now, traffic_class);
  const std::size_t paths = usable.paths.count();
  if (!permission->usable || paths == 0) return std::nullopt;
  const wire::PathIndex used = usable.paths.has(path) ? path : usable.list[path % paths];

  const std::uint32_t place = chunk.chunk % wire::PlacedName::kSegmentChunks;
  const wire::Permit& permit = permission->permit;
  const std::uint64_t offset = std::uint64_t{place} * chunk_bytes;
  const std::uint64_t left = whole.size() - std::uint64_t{chunk.chunk} * chunk_bytes;
  const std::uint64_t room = permit.bytes - std::min<std::uint64_t>(offset, permit.bytes);
  const std::uint64_t fitting =
      room >= left ? (left + chunk_bytes - 1) / chunk_bytes : room / chunk_bytes;
  const std::uint64_t until_ordinary =
      kPlacedInRowMax - 1 - flight.next_number(used) % kPlacedInRowMax;
  const std::uint64_t in_segment = wire::PlacedName::kSegmentChunks - place;
  // At least 1: a trial of a link that has reported nothing is a single packet.
  const std::uint64_t unproven = unreported_max_ - std::min(unreported_, unreported_max_ - 1);
  const std::uint64_t packets = std::min(
      {fitting, std::uint64_t{room_on(flight, used)}, until_ordinary, in_segment, unproven});
  if (packets == 0) return std::nullopt;
  return Way{.target = {permit.address + offset, permit.key, 0, link_},
             .name = {.slot = permit.slot,
                      .generation = permit.generation,
                      .chunk = static_cast<std::uint8_t>(place)},
             .path = used,
             .packets = packets};
}

// How many more packets the peer's card can hold on this path.
std::size_t SendPlacing::room_on(const Flight& flight, wire::PathIndex path) const {
  const std::size_t most = limits_.packets_per_path_max;
  return most - std::min(most, flight.sent_since_unknown(path));
}

std::span<const wire::PathIndex> SendPlacing::paths_for(Time now, const Flight& flight,
                                                        const ChunkRef& chunk) {
  const Permission* permission = is_suspended(now) ? nullptr : find(chunk);
  if (permission == nullptr || (permission->checked && !permission->usable)) return {};
  const Usable& usable = usable_[static_cast<std::size_t>(TrafficClass::kExact)];
  offered_.clear();
  for (const wire::PathIndex path : std::span(usable.list).first(usable.paths.count()))
    if (room_on(flight, path) > 0) offered_.push_back(path);
  return offered_;
}

void SendPlacing::on_sent(Time now, std::size_t packets) {
  unreported_ += static_cast<std::uint32_t>(packets);
  if (unreported_ >= unreported_max_) next_trial_ = now + kLatePause;
  if (limits_.is_reliable && next_look_ == kNever) next_look_ = now + kLookPause;
}

std::size_t SendPlacing::ordinary_run(Time now, const ChunkRef& chunk, std::uint32_t chunk_bytes) {
  const bool possible = !is_suspended(now) && limits_.payload_bytes_max >= chunk_bytes &&
                        !usable_[static_cast<std::size_t>(TrafficClass::kExact)].paths.empty();
  const Permission* permission = possible ? find(chunk) : nullptr;
  if (permission != nullptr && (permission->usable || !permission->checked)) return 1;
  return wire::PlacedName::kSegmentChunks - chunk.chunk % wire::PlacedName::kSegmentChunks;
}

std::size_t SendPlacing::resolve(Time now, Flight& flight, wire::Ack& ack) {
  update_paths();
  look(now, flight);
  const std::size_t others = ack.paths.size();
  for (const wire::PlacedReport& report : ack.placed) {
    const auto name = wire::PlacedName::unpack(report.name);
    if (name.slot >= permissions_.size()) continue;
    const Permission& permission = permissions_[name.slot];
    if (!permission.given || permission.permit.generation != name.generation) continue;
    unreported_ = 0;
    unreported_max_ = kUnreportedMax;
    const std::uint32_t chunk =
        permission.permit.segment * wire::PlacedName::kSegmentChunks + name.chunk;
    const auto sent =
        flight.find(report.path, {permission.message, chunk, permission.permit.stream});
    if (!sent) continue;
    const auto& [number, sent_at] = *sent;
    ack.paths.push_back({report.path, 0, static_cast<std::uint32_t>(number),
                         wire::wire_time(sent_at), report.held});
  }
  return limits_.is_reliable ? others : ack.paths.size();
}

}  // namespace dlcp::core
