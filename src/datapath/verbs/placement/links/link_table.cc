#include "datapath/verbs/placement/links/link_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "datapath/repeat_time.h"

namespace dlcp::datapath {
namespace {

constexpr unsigned kFailuresMax = 2;   // of one attempt to connect a link
constexpr Duration kRejoinPause = 3s;  // after a failed repair, which may have taken a second

bool is_older(std::uint32_t version, std::uint32_t than) {
  return static_cast<std::int32_t>(version - than) < 0;
}

Error no_such_link() {
  return {ErrorCode::kInternal, "the link for placed packets does not exist", ""};
}

// The limit of packets in flight on one path: an eighth of the receives may be missing until the
// next post.
std::uint32_t usable(std::uint32_t receives) {
  return receives - receives / 8;
}

}  // namespace

LinkTable::LinkTable(VerbsCard& card, QueueTable& queues, ReceiveChain& receives, Marks marks)
    : card_(card), queues_(queues), receives_(receives), marks_(std::move(marks)) {}

LinkTable::Link* LinkTable::find(LinkId link) {
  const auto found = links_.find(static_cast<std::uint32_t>(link));
  return found != links_.end() ? &found->second : nullptr;
}

Result<LinkId> LinkTable::open(const IpAddress& peer, Duration round_trip) {
  if (queues_.room() < kPathsPerLinkMin) {
    return Error{
        ErrorCode::kSystem,
        fmt::format("{} has no room for the queue pairs of another peer: all {} are in use",
                    to_string(card_.port), queues_.capacity()),
        "data of this connection is sent in packets that are copied"};
  }
  Link& link = links_[++last_id_];
  link.ip = peer;
  link.repeat_exponent = repeat_exponent(round_trip);
  return static_cast<LinkId>(last_id_);
}

// Half of all queues is reserved for links that have only few, so that late peers get some too.
std::size_t LinkTable::paths_allowed(const Link& link) const {
  const std::size_t share = queues_.room() > queues_.capacity() / 2
                                ? paths_per_link_max(queues_.options().transport)
                                : kPathsPerLinkMin;
  std::size_t used = 0;
  for (const auto& of_class : link.queues)
    used += of_class.size();
  return std::min(share - std::min(used, share), queues_.room());
}

Status LinkTable::widen(LinkId id, TrafficClass traffic_class, std::size_t paths) {
  Link* const link = find(id);
  if (link == nullptr) return no_such_link();
  auto& of_class = link->queues[static_cast<std::size_t>(traffic_class)];
  const std::size_t wanted = std::min(paths, kPathsPerClassMax);
  while (of_class.size() < wanted && paths_allowed(*link) > 0) {
    auto queue = queues_.open({id, traffic_class, static_cast<wire::PathIndex>(of_class.size())});
    if (!queue) return queue.error();
    of_class.push_back(queue.value());
    ++link->version;
  }
  return Unit{};
}

Introduction LinkTable::introduction(LinkId id) {
  LinkDescription own;
  own.transport = queues_.options().transport;
  own.mtu = static_cast<std::uint8_t>(card_.path_mtu);
  own.receives_per_path = static_cast<std::uint16_t>(usable(queues_.options().receives));
  const Link* const link = find(id);
  if (link == nullptr) return {};
  own.version = link->version;
  for (std::size_t c = 0; c < link->queues.size(); ++c) {
    for (const std::uint16_t index : link->queues[c]) {
      const QueueTable::Slot& slot = queues_.at(index);
      own.classes[c].push_back(
          {slot.queue->number(), slot.remote.queue_pair != 0, slot.remote.queue_pair});
    }
  }
  return encode(own);
}

// UC: introductions only grow, so that the order in which they arrive does not matter.
bool LinkTable::agrees(const Link& link, const LinkDescription& remote) const {
  for (std::size_t c = 0; c < remote.classes.size() && !is_reliable(); ++c) {
    const auto& known = link.remote.classes[c];
    const std::size_t common = std::min(known.size(), remote.classes[c].size());
    for (std::size_t p = 0; p < common; ++p)
      if (known[p].queue_pair != remote.classes[c][p].queue_pair) return false;
  }
  return true;
}

Status LinkTable::connect(LinkId id, std::span<const std::byte> introduction) {
  Link* const link = find(id);
  if (link == nullptr) return no_such_link();
  const auto remote = decode_introduction(introduction);
  if (!remote || !agrees(*link, *remote)) {
    return Error{ErrorCode::kRemote,
                 fmt::format("the peer at {} described its queue pairs wrongly ({} bytes)",
                             to_string(link->ip), introduction.size()),
                 "data of this connection is sent in packets that are copied"};
  }
  if (remote->transport != queues_.options().transport) {
    return Error{ErrorCode::kRemote,
                 fmt::format("the peer at {} places data over another type of queue pair",
                             to_string(link->ip)),
                 "data of this connection is sent in packets that are copied"};
  }
  if (is_reliable() && is_older(remote->version, link->remote.version)) return Unit{};
  link->remote.version = remote->version;
  const auto mtu = std::min<unsigned>(remote->mtu, card_.path_mtu);
  link->remote.mtu = static_cast<std::uint8_t>(mtu);
  // With more in flight, the queue could be full, and packets would be lost.
  // Over RC requests end only when the peer's card has acknowledged them, which may be later than
  // the peer itself.
  const std::uint32_t sends = queues_.options().sends / (is_reliable() ? 2 : 1);
  link->limits = {128u << mtu, std::min<std::uint32_t>(remote->receives_per_path, sends),
                  is_reliable()};
  Status first_error = Unit{};
  unsigned failures = 0;
  for (std::size_t c = 0; c < remote->classes.size(); ++c) {
    auto& known = link->remote.classes[c];
    for (std::size_t p = 0; p < remote->classes[c].size(); ++p) {
      if (p == known.size()) known.push_back(remote->classes[c][p]);
      if (is_reliable())
        known[p] = remote->classes[c][p];
      else
        known[p].is_connected |= remote->classes[c][p].is_connected;
    }
    if (auto widened = widen(id, static_cast<TrafficClass>(c), known.size());
        !widened && first_error)
      first_error = widened.error();
    if (auto connected = connect_class(*link, c, failures); !connected && first_error)
      first_error = connected.error();
  }
  return first_error;
}

// A path that cannot be connected does not keep the others from it. All lead to the same address,
// whose resolution may take a second, so the second failure, of whatever class, ends the attempt.
Status LinkTable::connect_class(Link& link, std::size_t traffic_class, unsigned& failures) {
  const auto& own = link.queues[traffic_class];
  const auto& remote = link.remote.classes[traffic_class];
  Status first_error = Unit{};
  const std::size_t paths = std::min(own.size(), remote.size());
  for (std::size_t path = 0; path < paths && failures < kFailuresMax; ++path)
    if (auto connected = connect_path(link, traffic_class, path); !connected) {
      ++failures;
      if (first_error) first_error = connected.error();
    }
  return first_error;
}

Status LinkTable::connect_path(Link& link, std::size_t traffic_class, std::size_t path) {
  const LinkDescription::Path& remote = link.remote.classes[traffic_class][path];
  QueueTable::Slot& slot = queues_.at(link.queues[traffic_class][path]);
  if (is_reliable())
    if (auto followed = follow(link, traffic_class, path); !followed) return followed;
  const bool knows_other =
      is_reliable() && remote.connected_to != 0 && remote.connected_to != slot.queue->number();
  if (slot.remote.queue_pair != 0 || knows_other) return Unit{};
  // A queue pair that follows a failed one takes another path of the network, which may work.
  const std::size_t label = path + slot.renewals * kPathsPerClassMax;
  const QueueRemote end{link.ip,
                        remote.queue_pair,
                        static_cast<ibv_mtu>(link.remote.mtu),
                        marks_.flow_labels[label % marks_.flow_labels.size()],
                        marks_.tos[traffic_class],
                        link.repeat_exponent};
  if (auto joined = join(slot, end); !joined) return joined;
  ++link.version;
  return Unit{};
}

// RC: the peer has replaced the queue pair that this one is connected to, which is therefore
// useless. If the peer's new one is connected to an earlier queue pair of this side, the peer has
// yet to follow.
Status LinkTable::follow(Link& link, std::size_t traffic_class, std::size_t path) {
  const std::uint16_t index = link.queues[traffic_class][path];
  const QueueTable::Slot& slot = queues_.at(index);
  const auto& remote = link.remote.classes[traffic_class][path];
  const bool is_same = remote.queue_pair == slot.remote.queue_pair;
  const bool has_heard = remote.connected_to == 0 || remote.connected_to == slot.queue->number();
  if (slot.remote.queue_pair == 0 || is_same || !has_heard) return Unit{};
  return renew(link, index);
}

Status LinkTable::renew(Link& link, std::uint16_t index) {
  if (auto renewed = queues_.renew(index); !renewed) return renewed;
  ++link.version;
  return Unit{};
}

Status LinkTable::join(QueueTable::Slot& slot, const QueueRemote& remote) {
  if (auto connected = slot.queue->connect(remote); !connected) return connected;
  receives_.fill(*slot.queue);
  slot.remote = remote;
  return Unit{};
}

LinkTable::State LinkTable::state_of(const Link& link, std::size_t traffic_class,
                                     std::size_t path) {
  const auto& remote = link.remote.classes[traffic_class][path];
  const QueueTable::Slot& slot = queues_.at(link.queues[traffic_class][path]);
  if (slot.queue->queue_pair() == nullptr || slot.needs_repair()) return State::kBroken;
  const bool is_joined = !is_reliable() || (remote.connected_to == slot.queue->number() &&
                                            remote.queue_pair == slot.remote.queue_pair);
  return slot.remote.queue_pair != 0 && remote.is_connected && is_joined ? State::kUsable
                                                                         : State::kAwaitsPeer;
}

wire::LinkPaths LinkTable::paths(LinkId id, TrafficClass traffic_class) {
  wire::LinkPaths usable;
  const Link* const link = find(id);
  if (link == nullptr) return usable;
  const auto c = static_cast<std::size_t>(traffic_class);
  const std::size_t shared = std::min(link->queues[c].size(), link->remote.classes[c].size());
  for (std::size_t path = 0; path < shared; ++path)
    if (state_of(*link, c, path) == State::kUsable) usable.add(path);
  return usable;
}

bool LinkTable::awaits_peer(LinkId id) {
  const Link* const link = find(id);
  if (link == nullptr || !is_reliable()) return false;
  for (std::size_t c = 0; c < link->queues.size(); ++c) {
    const std::size_t shared = std::min(link->queues[c].size(), link->remote.classes[c].size());
    for (std::size_t path = 0; path < shared; ++path)
      if (state_of(*link, c, path) == State::kAwaitsPeer) return true;
  }
  return false;
}

std::uint32_t LinkTable::failures(LinkId id, TrafficClass traffic_class, wire::PathIndex path) {
  const Link* const link = find(id);
  if (link == nullptr) return 0;
  const auto& own = link->queues[static_cast<std::size_t>(traffic_class)];
  return path < own.size() ? queues_.at(own[path]).failures() : 0;
}

void LinkTable::close(LinkId id) {
  const Link* const link = find(id);
  if (link == nullptr) return;
  for (const auto& of_class : link->queues)
    for (const std::uint16_t index : of_class)
      queues_.close(index);
  links_.erase(static_cast<std::uint32_t>(id));
}

// A UC queue pair accepts whatever number the peer's next packet has. An RC queue pair needs a new
// one at the peer too. A failed repair may have taken a second, so this call repairs nothing else,
// and the next call begins the pause. From then on the failed queue's link comes last, because its
// other queues lead to the same peer.
std::size_t LinkTable::repair(Time now) {
  if (std::exchange(has_repair_failed_, false)) repair_at_ = now + kRejoinPause;
  if (now < repair_at_) return 0;
  std::size_t repaired = 0;
  const std::size_t slots = queues_.slots().size();
  const std::size_t rounds = failed_link_ != LinkId::kNone ? 2 : 1;
  for (std::size_t visited = 0; visited < rounds * slots && !has_repair_failed_; ++visited) {
    const std::size_t index = next_repair_++ % slots;
    QueueTable::Slot& slot = queues_.at(index);
    if (!slot.needs_repair()) continue;
    if (slot.way.link == failed_link_ && visited < slots) continue;
    if (is_reliable()) {
      // From now on the card neither repeats what counts as lost nor reads its memory.
      if (slot.queue->is_broken() && slot.queue->queue_pair() != nullptr) slot.queue->reset();
      if (!slot.pause.is_over(now)) continue;
    } else if (slot.queue->queue_pair() == nullptr) {
      continue;  // it had to be destroyed, which is final
    }
    Link* const link = find(slot.way.link);
    const bool is_repaired =
        is_reliable() ? link != nullptr && renew(*link, static_cast<std::uint16_t>(index))
                      : static_cast<bool>(join(slot, slot.remote));
    repaired += is_repaired ? 1 : 0;
    has_repair_failed_ = !is_repaired && !is_reliable();
    if (has_repair_failed_) failed_link_ = slot.way.link;
  }
  return repaired;
}

}  // namespace dlcp::datapath
