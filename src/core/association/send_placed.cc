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
  const Duration shortest = acks_.rtt().shortest_or(setup_.terms().shortest());
  if (limits.is_reliable && shortest > Card::kReliableRoundTripMost) return std::nullopt;
  const auto way =
      placing_->way(now, flight_, chunk, traffic_class, whole, setup_.terms().payload_bytes, path);
  if (!way) return std::nullopt;
  // If the card has fewer paths than this association, several share a queue pair; PathSet knows
  // only the path that has the number of the queue pair.
  if (way->path != path && paths_.is_avoided(way->path)) return std::nullopt;
  // Packets behind one that the card repeats would wait for it.
  const Duration answer_time = acks_.rtt().answer_time_or(1ms);
  if (limits.is_reliable &&
      flight_.awaits_repair(way->path, now - AckReader::kRepeatTimes * answer_time))
    return std::nullopt;
  return way;
}

// Sends chunks of an exact message from `first` on, at most as many as `out` holds, as placed
// packets; returns their number.
std::size_t SendAssociation::emit_placed_run(Time now, SendStream& stream, const ChunkRef& first,
                                             std::span<wire::TxPacket> out) {
  const std::size_t payload_bytes = setup_.terms().payload_bytes;
  const ChunkView view = stream.queue().view(first);
  const std::size_t begin = view.offset;
  const std::span message(view.payload.data() - begin, view.message_bytes);
  const auto way =
      placed_way(now, first, TrafficClass::kExact, message, view.payload.size(), burst_.path);
  if (!way) return 0;
  const std::size_t count = std::min(out.size(), way->packets);
  stream.queue().mark_run_sent(first, count);
  const auto payload =
      message.subspan(begin, std::min(count * payload_bytes, message.size() - begin));
  const bool is_reliable = placing_->limits().is_reliable;
  flight_.on_placed_sent(now, way->path, first, is_reliable, count);
  placing_->on_sent(now, count);
  wire::PlacedTarget target = way->target;
  wire::PlacedName name = way->name;
  const std::byte* at = payload.data();
  for (wire::TxPacket& packet : out.first(count)) {
    target.name = name.pack();
    wire::set_placed_target(target, packet);
    packet.payload = {at, payload_bytes};
    packet.traffic_class = TrafficClass::kExact;
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
  on_run_sent(now, stream, count, payload.size());
  // The rest of a burst takes another path if this one is full.
  const bool ends = count < out.size() || last.payload.size() < payload_bytes;
  burst_.left = ends ? 0 : burst_.left - count;
  return count;
}

// Sends the chunk in cut_ as a placed packet, if the receiver permits it.
bool SendAssociation::emit_placed(Time now, SendStream& stream, wire::TxPacket& out) {
  const SentChunk& sent = cut_.sent();
  const ChunkRef chunk = cut_.chunk();
  const bool is_reliable = placing_->limits().is_reliable;
  // A repair must not depend on what the lost packet depended on, for example its queue pair.
  if (sent.again || sent.coding.used() || sent.bytes == 0) return false;
  // A licensed message may be complete, and its permissions revoked, while the card repeats.
  if (is_reliable && stream.queue().has_licence(chunk.message)) return false;
  const std::span whole(sent.data - sent.offset, sent.message_bytes);
  auto way = placed_way(now, chunk, sent.traffic_class, whole, sent.bytes, cut_.path());
  if (!way) return false;
  way->name.asks_ack = streams_.has_next() && window_.asks_ack(now, congestion_->window());
  way->name.ends_message = sent.offset + sent.bytes == sent.message_bytes;
  way->target.name = way->name.pack();
  placing_->on_sent(now, 1);
  wire::set_placed_target(way->target, out);
  out.payload = cut_.next(prober_.size().payload_bytes()).payload;
  out.traffic_class = sent.traffic_class;
  out.path = way->path;
  out.destination = &open_.peer;
  const std::uint64_t number = flight_.on_placed_sent(now, way->path, chunk, is_reliable);
  if (sent.licensed)
    stream.lossy().on_sent(now, chunk.message, {way->path, static_cast<std::uint32_t>(number)},
                           stream.queue().ended_by(chunk.message), true);
  stream.counters().add(Counter::kPacketsSent);
  stream.counters().add(Counter::kBytesSent, sent.bytes);
  return true;
}

}  // namespace dlcp::core
