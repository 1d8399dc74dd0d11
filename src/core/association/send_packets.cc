// The transmission part of SendAssociation: bursts, data packets, SENT_ONCE frames.
#include <algorithm>
#include <cmath>

#include "core/association/send_association.h"
#include "core/congestion/burst.h"
#include "core/streams/send_stream.h"
#include "wire/data/data_header.h"

namespace dlcp::core {
namespace {

// The last packet of a message is padded to the size of the others if more packets follow in its
// burst, because a shorter packet ends a burst, here and in the kernels of both hosts; but not if
// the message becomes longer by more than this share.
constexpr std::size_t kPaddingShare = 16;

void count_sent(Counters& counters, std::size_t bytes, bool again) {
  counters.add(Counter::kPacketsSent);
  counters.add(Counter::kBytesSent, bytes);
  if (!again) return;
  counters.add(Counter::kPacketsRetransmitted);
  counters.add(Counter::kBytesRetransmitted, bytes);
}

// Copies the payload, with zeros behind it, to a frame that FrameWriter::join() makes whole: only
// payloads in the user's memory may be apart from their headers.
std::span<const std::byte> padded_copy(std::span<const std::byte> payload, std::size_t bytes,
                                       wire::Buffer& frame) {
  frame.resize(wire::kDataHeaderBytes);
  frame.insert(frame.end(), payload.begin(), payload.end());
  frame.resize(wire::kDataHeaderBytes + bytes, std::byte{0});
  return std::span(frame).subspan(wire::kDataHeaderBytes);
}

}  // namespace

std::size_t SendAssociation::packet_bytes() const {
  return setup_.terms.payload_bytes + wire::overhead_bytes(setup_.terms.protection);
}

bool SendAssociation::begin_burst(Time now, SendStream& stream, const ChunkRef& first,
                                  const ChunkView& chunk) {
  if (acks_.rtt().has_fallen()) pacer_.forgive(now);
  if (!pacer_.may_send(now)) return false;
  const bool idle = window_.in_flight() == 0;
  window_.on_burst(now);
  const double limit = window_.limit(congestion_.window());
  // The value that replaces an unknown RTT would spread the first packets over too long a time.
  const Duration round = acks_.rtt().recent_or(setup_.terms.shortest());
  const Duration packet_time = Pacer::packet_time(round, limit, congestion_.in_slow_start());
  if (idle) pacer_.on_pause(limit);
  const auto cargo = stream.queue().has_lost() ? PathSet::Cargo::kRepair : PathSet::Cargo::kNew;
  const auto among = placing_ ? placing_->paths_for(now, flight_, first) : PathSet::Among{};
  const PathSet::Choice choice = paths_.choose(now, packet_time, cargo, among);
  const auto bytes = static_cast<double>(packet_bytes());
  const double per_second = 1e9 / static_cast<double>(std::max(packet_time, Duration(1)).count());
  rate_.update(own_rate_, bytes * per_second);
  // Time per packet at the rate of the whole endpoint.
  const Duration shared_time(static_cast<std::int64_t>(1e9 * bytes / rate_.total()));
  const std::size_t payload_bytes = setup_.terms.payload_bytes;
  auto packets = burst_packets(config_, packet_bytes(), shared_time, limit);
  const std::size_t rest = (chunk.message_bytes - chunk.offset + payload_bytes - 1) / payload_bytes;
  if (chunk.message_bytes <= kUndividedBytes &&
      static_cast<double>(window_.in_flight() + rest) <= limit) {
    const auto most = burst_packets(config_, packet_bytes(), shared_time, 2 * limit);
    packets = std::max(packets, std::min(rest, most));
  }
  // The receiver handles the first half of a message while the second one is sent.
  if (idle && rest > packets && rest < 2 * packets) {
    const std::size_t half = (rest + 1) / 2;
    const std::size_t unit = unit_packets(config_, packet_bytes());
    packets = half <= unit ? half : std::min(packets, (half + unit - 1) / unit * unit);
  }
  burst_ = {choice.path, std::min(packets, choice.packets_max),
            std::min(chunk.payload.size(), payload_bytes), packet_time, pacer_.slack(round)};
  stream.counters().add(Counter::kBurstsSent);
  return true;
}

// The number of packets that can leave together, with this chunk and those after it: at least 1.
std::size_t SendAssociation::run_packets(const SendQueue& queue, const ChunkRef& chunk,
                                         std::size_t room, double most) const {
  if (prober_.size().shrunk()) return 1;
  const std::size_t payload_bytes = setup_.terms.payload_bytes;
  std::size_t packets = std::min(burst_.left, room);
  if (burst_.left > room) {  // up to the end of a unit
    const std::size_t unit = unit_packets(config_, packet_bytes());
    const std::size_t begun = burst_.left % unit;
    packets = std::min(room, begun != 0 ? begun : std::max<std::size_t>(room / unit, 1) * unit);
  }
  packets = std::min(packets, static_cast<std::size_t>(std::ceil(most)) - window_.in_flight());
  packets = std::min(packets, (streams_.left() + payload_bytes - 1) / payload_bytes);
  return std::min(packets, queue.run_length(chunk));
}

// The fields that all data packets have.
wire::DataHeader SendAssociation::header_of(Time now, const SendStream& stream,
                                            std::uint64_t message, wire::PathIndex path) const {
  wire::DataHeader header;
  header.destination = stream.peer_token();
  header.message = static_cast<std::uint32_t>(message);
  header.copied = stream.queue().is_copied(message);
  header.path = path;
  header.sent_at = wire::wire_time(now);
  header.window_epoch = window_.epoch();
  header.reply_path = heard_path_;
  return header;
}

// The window has room for the message, which continues with `first`, and nothing else waits.
bool SendAssociation::fits_alone(const SendStream& stream, const ChunkRef& first,
                                 double most) const {
  const std::size_t payload_bytes = setup_.terms.payload_bytes;
  const std::size_t bytes = stream.queue().message_bytes(first.message);
  const std::size_t chunks = (bytes + payload_bytes - 1) / payload_bytes;
  const std::size_t in_flight = window_.in_flight() + chunks - first.chunk;
  return static_cast<double>(std::max(chunks, in_flight)) <= most &&
         !streams_.any_busy([&](const SendStream& one) {
           const std::uint64_t end = one.queue().end_message();
           return one.queue().has_next() && (&one != &stream || first.message + 1 != end);
         });
}

bool SendAssociation::pads(std::size_t bytes, std::size_t message_bytes) const {
  const AssociationTerms& terms = setup_.terms;
  return config_.card == nullptr &&  // the card may be the only one that can read the message
         bytes < terms.payload_bytes && burst_.bytes == terms.payload_bytes &&
         (terms.payload_bytes - bytes) * kPaddingShare <= message_bytes &&
         terms.protection == wire::Protection::kHeader && streams_.has_next();
}

// Sends as many chunks of one message as `out` holds: run_packets() of them.
void SendAssociation::emit_run(Time now, SendStream& stream, const ChunkRef& first,
                               FrameWriter& frames, std::span<wire::TxPacket> out) {
  const std::size_t payload_bytes = setup_.terms.payload_bytes;
  const std::size_t count = out.size();
  const auto message = stream.queue().mark_run_sent(first, count);
  const std::size_t begin = first.chunk * payload_bytes;
  const auto payload =
      message.subspan(begin, std::min(count * payload_bytes, message.size() - begin));
  const std::uint64_t number =
      flight_.on_sent(now, burst_.path, first, Flight::Carried::kChunk, count);
  wire::DataHeader header = header_of(now, stream, first.message, burst_.path);
  header.message_bytes = static_cast<std::uint32_t>(message.size());
  header.offset = static_cast<std::uint32_t>(begin);
  header.path_sequence = static_cast<std::uint32_t>(number);
  FrameWriter::emit_run(header, payload, payload_bytes, open_.peer, out);

  for_each_asking(now, stream, first, count, [&](std::size_t i) { wire::ask_ack(out[i]); });
  const std::size_t last_bytes = out.back().payload.size();
  const bool pad =
      last_bytes < payload_bytes && burst_.left > count && pads(last_bytes, message.size());
  wire::Buffer* const padded = pad ? &frames.take() : nullptr;
  if (pad) out.back().payload = padded_copy(out.back().payload, payload_bytes, *padded);
  frames.seal(number, out);
  if (pad) FrameWriter::join(*padded, out.back());

  on_run_sent(now, stream, count, payload.size());
  burst_.left = pad || last_bytes == payload_bytes ? burst_.left - count : 0;
}

void SendAssociation::on_run_sent(Time now, SendStream& stream, std::size_t packets,
                                  std::size_t bytes) {
  window_.on_sent(now, packets);
  pacer_.on_sent(now, packets, burst_.packet_time, burst_.slack);
  streams_.on_sent(bytes);
  stream.counters().add(Counter::kPacketsSent, packets);
  stream.counters().add(Counter::kBytesSent, bytes);
}

// Sends the next piece of the chunk in cut_. Returns true if it was padded.
bool SendAssociation::emit_piece(Time now, SendStream& stream, FrameWriter& frames,
                                 wire::TxPacket& out) {
  const bool asks_ack = streams_.has_next() && window_.asks_ack(now, congestion_.window());
  const SentChunk& sent = cut_.sent();
  const ChunkRef& chunk = cut_.chunk();
  const std::uint32_t payload_bytes = prober_.size().payload_bytes();
  wire::Buffer* frame = sent.coding.used() ? &frames.take() : nullptr;
  ChunkCut::Piece piece = cut_.next(payload_bytes, frame);
  const std::size_t bytes = piece.coding.used() ? piece.coding.plain_bytes : piece.payload.size();
  const bool padded = frame == nullptr && burst_.left > 0 && bytes == sent.bytes &&
                      !prober_.size().shrunk() && pads(bytes, sent.message_bytes);
  if (padded) {
    frame = &frames.take();
    piece.payload = padded_copy(piece.payload, payload_bytes, *frame);
  }
  wire::DataHeader header = header_of(now, stream, chunk.message, cut_.path());
  header.message_bytes = sent.message_bytes;
  header.offset = piece.offset;
  header.coding = piece.coding;
  const auto carried = piece.ends ? Flight::Carried::kChunk : Flight::Carried::kPiece;
  const std::uint64_t number = flight_.on_sent(now, header.path, chunk, carried);
  header.path_sequence = static_cast<std::uint32_t>(number);
  header.licensed = sent.licensed;
  header.traffic_class = sent.traffic_class;
  header.retransmission = sent.again;
  header.asks_ack = asks_ack;
  frames.emit(header, number, piece.payload, open_.peer, out);
  if (frame != nullptr) FrameWriter::join(*frame, out);

  if (sent.licensed) {
    stream.lossy().on_sent(
        now, chunk.message, {header.path, header.path_sequence},
        piece.ends ? stream.queue().ended_by(chunk.message) : LicensedEnd::kNothing);
  }
  count_sent(stream.counters(), bytes, sent.again);
  if (piece.coding.used()) {
    stream.counters().add(Counter::kBytesCompressed, bytes);
    stream.counters().add(Counter::kBytesCompressedWire, piece.payload.size());
  }
  return padded;
}

std::size_t SendAssociation::emit_sent_once(Time now, FrameWriter& frames,
                                            std::span<wire::TxPacket> out) {
  std::size_t count = 0;
  streams_.for_each_busy([&](SendStream& stream) {
    if (!stream.lossy().due()) return;
    const Recipient to{stream.peer_token(), &open_.peer};
    count += stream.lossy().poll_transmit(now, stream.queue(), to, frames, out.subspan(count));
  });
  return count;
}

// Packets that form one unit wait until there is room for all of them.
bool SendAssociation::room_for_unit(std::size_t room, std::size_t whole) {
  const std::size_t unit = unit_packets(config_, packet_bytes());
  const bool unit_begins = burst_.left < unit || burst_.left % unit == 0;
  const std::size_t together = std::min(burst_.left, unit);
  wants_room_ = unit_begins && room < together && together <= whole;
  return !wants_room_;
}

std::size_t SendAssociation::emit_data(Time now, FrameWriter& frames, std::span<wire::TxPacket> out,
                                       std::size_t whole) {
  const std::uint32_t payload_bytes = setup_.terms.payload_bytes;
  std::size_t count = 0;
  double most = window_.most(congestion_.window());
  if (cut_.pending()) {
    const Bitmap* const acked = acked_of(cut_.chunk());
    if (acked == nullptr || acked->test(cut_.chunk().chunk)) cut_.drop();
  }
  while (count < out.size()) {
    if (cut_.pending()) {
      emit_piece(now, *streams_.find(cut_.chunk().stream), frames, out[count++]);
      continue;
    }
    SendStream* stream = streams_.next();
    if (stream == nullptr) {
      pacer_.on_other_limit();
      break;
    }
    stream->on_turn(now);
    SendQueue& queue = stream->queue();
    auto chunk = queue.next();
    if (!chunk) break;
    chunk->stream = stream->number();
    const ChunkView view = queue.view(*chunk);
    if (window_.in_flight() >= most) {
      window_.note_stopped(congestion_.window(), view.message_bytes / payload_bytes);
      pacer_.on_other_limit();
      break;
    }
    // All packets of a burst have the same size, except that the last one may be shorter.
    const std::size_t bytes = std::min<std::size_t>(view.payload.size(), payload_bytes);
    if (bytes > burst_.bytes) burst_.left = 0;
    if (burst_.left == 0) {
      if (!begin_burst(now, *stream, *chunk, view)) break;
      most = window_.most(congestion_.window());
    }
    if (!room_for_unit(out.size() - count, whole)) break;
    std::size_t run = run_packets(queue, *chunk, out.size() - count, most);
    if (run > 1 && placing_) {
      const std::size_t placed = emit_placed(now, *stream, *chunk, out.subspan(count, run));
      count += placed;
      if (placed > 0) continue;
      run = std::min(run, placing_->ordinary_run(now, *chunk, payload_bytes));
    }
    if (run > 1) {
      emit_run(now, *stream, *chunk, frames, out.subspan(count, run));
      count += run;
      continue;
    }
    queue.mark_sent(*chunk, cut_.begin(*chunk, burst_.path));
    if (may_be_placed(queue) && emit_placed(now, *stream, *chunk, out.subspan(count, 1)) > 0) {
      cut_.drop();
    } else {
      --burst_.left;
      streams_.on_sent(cut_.sent().bytes);
      const bool padded = emit_piece(now, *stream, frames, out[count]);
      window_.on_sent(now);
      pacer_.on_sent(now, 1, burst_.packet_time, burst_.slack);
      if (bytes < burst_.bytes && !padded) burst_.left = 0;
    }
    ++count;
    // SENT_ONCE follows the last packet of its message directly, before the next message.
    if (!cut_.pending() && stream->lossy().due())
      count += emit_sent_once(now, frames, out.subspan(count));
  }
  return count;
}

std::size_t SendAssociation::poll_transmit(Time now, FrameWriter& frames,
                                           std::span<wire::TxPacket> out, std::size_t whole) {
  wants_room_ = false;
  if (!setup_.established()) return 0;
  std::size_t count = prober_.poll_transmit(now, {peer_token(), &open_.peer}, paths_, frames, out);
  counters_.add(Counter::kProbesSent, count);
  if (pong_due_ && count < out.size()) {
    frames.emit(*pong_due_, paths_.choose(now, {}).path, open_.peer, out[count++]);
    pong_due_.reset();
  }
  if (placing_ && placing_->link_due(now) && count < out.size())
    frames.emit(placing_->take_link(now, peer_token()), paths_.choose(now, {}).path, open_.peer,
                out[count++]);
  count += emit_sent_once(now, frames, out.subspan(count));
  const std::size_t data = emit_data(now, frames, out.subspan(count), whole);
  if (count + data > 0) watch(now);
  return count + data;
}

}  // namespace dlcp::core
