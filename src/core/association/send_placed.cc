// Placed packets of a SendAssociation: those that the receiver's card writes (core/placement).
#include <algorithm>

#include "core/association/send_association.h"
#include "core/streams/send_stream.h"
#include "wire/data/placed_packet.h"

namespace dlcp::core {
namespace {

void add_flags(const wire::PlacedName& flags, wire::TxPacket& packet) {
  wire::PlacedTarget target = wire::placed_target(packet);
  target.name |= flags.pack();
  wire::set_placed_target(target, packet);
}

}  // namespace

// The way of a chunk of `bytes` bytes whose burst is on `path`; nullopt: an ordinary packet.
std::optional<SendPlacing::Way> SendAssociation::placed_way(Time now, const ChunkRef& chunk,
                                                            TrafficClass traffic_class,
                                                            std::span<const std::byte> whole,
                                                            std::size_t bytes,
                                                            wire::PathIndex path) {
  const Card::Limits& limits = placing_->limits();
  if (bytes > std::min<std::size_t>(prober_.size().payload_bytes(), limits.payload_bytes_max))
    return std::nullopt;
  const Duration shortest = acks_.rtt().shortest_or(setup_.terms.shortest());
  if (limits.is_reliable && shortest > Card::kReliableRoundTripMost) return std::nullopt;
  const auto way =
      placing_->way(now, flight_, chunk, traffic_class, whole, setup_.terms.payload_bytes, path);
  if (!way) return std::nullopt;
  // If the card has fewer paths than this association, several share a queue pair; PathSet knows
  // only the path that has the number of the queue pair.
  if (way->path != path && paths_.is_avoided(way->path)) return std::nullopt;
  // Packets behind one that the card repeats would wait for it.
  const Duration answer_time = acks_.rtt().answer_time_or();
  if (limits.is_reliable &&
      flight_.awaits_repair(way->path, now - AckReader::kRepeatTimes * answer_time))
    return std::nullopt;
  return way;
}

// Whether the chunk in cut_, which next() returned alone, may be a placed packet.
bool SendAssociation::may_be_placed(const SendQueue& queue) const {
  const SentChunk& sent = cut_.sent();
  // A repair must not depend on what the lost packet depended on, for example its queue pair.
  return placing_ && !sent.again && !sent.coding.used() && sent.bytes > 0 &&
         // A licensed message may be complete, and its permissions revoked, while the card repeats.
         !(placing_->limits().is_reliable && queue.has_licence(cut_.chunk().message));
}

// Sends chunks from `first` on, at most as many as `out` holds, as placed packets, if the receiver
// permits it; returns their number. A single chunk is marked as sent already.
std::size_t SendAssociation::emit_placed(Time now, SendStream& stream, const ChunkRef& first,
                                         std::span<wire::TxPacket> out) {
  const std::size_t payload_bytes = setup_.terms.payload_bytes;
  SendQueue& queue = stream.queue();
  const ChunkView view = queue.view(first);
  const TrafficClass traffic_class = queue.class_of(first);
  const std::size_t begin = view.offset;
  const std::span message(view.payload.data() - begin, view.message_bytes);
  const auto way = placed_way(now, first, traffic_class, message, view.payload.size(), burst_.path);
  if (!way) return 0;
  const std::size_t count = std::min(out.size(), way->packets);
  if (out.size() > 1) queue.mark_run_sent(first, count);
  const auto payload =
      message.subspan(begin, std::min(count * payload_bytes, message.size() - begin));
  const auto carried =
      placing_->limits().is_reliable ? Flight::Carried::kByReliableCard : Flight::Carried::kByCard;
  const std::uint64_t number = flight_.on_sent(now, way->path, first, carried, count);
  placing_->on_sent(now, count);
  wire::PlacedTarget target = way->target;
  wire::PlacedName name = way->name;
  const std::byte* at = payload.data();
  for (wire::TxPacket& packet : out.first(count)) {
    target.name = name.pack();
    wire::set_placed_target(target, packet);
    packet.payload = {at, payload_bytes};
    packet.traffic_class = traffic_class;
    packet.unmarked = false;
    packet.path = way->path;
    packet.destination = &open_.peer;
    target.address += payload_bytes;
    at += payload_bytes;
    ++name.chunk;
  }
  wire::TxPacket& last = out[count - 1];
  last.payload = payload.subspan((count - 1) * payload_bytes);
  if (begin + payload.size() == message.size()) add_flags({.ends_message = true}, last);
  for_each_asking(now, stream, first, count,
                  [&](std::size_t i) { add_flags({.asks_ack = true}, out[i]); });
  if (queue.forgoes(first.message))
    stream.lossy().on_sent(now, first.message, {way->path, static_cast<std::uint32_t>(number)},
                           queue.ended_by(first.message), true);
  on_run_sent(now, stream, count, payload.size());
  // The rest of a burst takes another path if this one is full.
  const bool ends = count < out.size() || last.payload.size() < burst_.bytes;
  burst_.left = ends ? 0 : burst_.left - count;
  return count;
}

}  // namespace dlcp::core
