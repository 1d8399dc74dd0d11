// The sending side of bounded loss: what licensed messages say and hear besides acknowledgements.
#include <algorithm>

#include "core/send_connection.h"
#include "wire/data_header.h"
#include "wire/serial.h"

namespace dlcp::core {
namespace {

// What no hole tells of counts as protected.
void count_lost(const SendQueue& queue, std::uint64_t number, const wire::Stop& stop,
                Counters& counters) {
  std::uint64_t droppable = 0;
  for (const wire::Hole& hole : stop.holes) {
    for (std::uint32_t i = 0; i < hole.count && queue.has_chunk({number, hole.first + i}); ++i) {
      const ChunkRef chunk{number, hole.first + i};
      if (row_of(queue.class_of(chunk)).early == EarlyTreatment::kDrop) {
        droppable += queue.view(chunk).payload.size();
      }
    }
  }
  droppable = std::min<std::uint64_t>(droppable, stop.lost_bytes);
  const bool urgent = queue.licence(number).urgent;
  counters.add(urgent ? Counter::kLostUrgentDroppable : Counter::kLostBulkDroppable, droppable);
  counters.add(urgent ? Counter::kLostUrgentProtected : Counter::kLostBulkProtected,
               stop.lost_bytes - droppable);
}

}  // namespace

std::size_t SendConnection::emit_sent_once(Time now, FrameWriter& frames,
                                           std::span<wire::TxPacket> out) {
  std::size_t count = 0;
  while (count < out.size()) {
    const auto due = lossy_.pop_due(now);
    if (!due) break;
    if (!queue_.forgoes(due->message)) continue;  // settled meanwhile
    wire::SentOnce frame;
    frame.destination = handshake_.receiver_token();
    frame.message = static_cast<std::uint32_t>(due->message);
    frame.message_bytes = static_cast<std::uint32_t>(queue_.message_bytes(due->message));
    frame.echo = wire::wire_time(now);
    frame.path = due->path;
    frame.urgent = queue_.licence(due->message).urgent;
    frame.marks = *due->marks;
    frames.emit(frame, due->path, peer_address(), out[count]);
    out[count++].traffic_class =  // behind the data, never past it
        frame.urgent ? TrafficClass::kUrgentProtected : TrafficClass::kBulkProtected;
  }
  return count;
}

void SendConnection::on_need(Time now, const wire::Need& need) {
  if (!open()) return;
  heard(now);
  const std::uint64_t number = wire::expand_serial(need.message, queue_.first_message());
  if (!queue_.forgoes(number)) return;
  queue_.need(number);
  // The SENT_ONCE that it answers was a probe of its path as well.
  flight_.on_probe_answered(now, need.path, wire::from_wire_time(need.echo, now));
  AckSample sample{.now = now, .round_trip = round_trip()};
  collect_losses(now, sample);
  congestion_->on_ack(sample);
  lossy_.refresh(now, round_trip(), queue_);
  prober_.on_progress();
  watch(now);
}

void SendConnection::on_stop(Time now, const wire::Stop& stop) {
  if (!open()) return;
  heard(now);
  const std::uint64_t number = wire::expand_serial(stop.message, queue_.first_message());
  if (queue_.forgoes(number)) {
    ledger_.reserve(queue_.licence(number), stop.lost_bytes, queue_.message_bytes(number));
    count_lost(queue_, number, stop, counters_);
  }
  SendQueue::Acked acked;
  queue_.stop(number, acked);
  if (acked.in_flight + acked.forgone > 0) liveness_.on_progress(now);
  window_.on_settled(acked.in_flight);
  // Most of what was given up had not been declared lost yet: this is where it shows.
  const std::uint32_t given_up = stop.lost_bytes / handshake_.payload_bytes();
  AckSample sample{.now = now, .round_trip = round_trip(), .loss_budget = ledger_.hop_share()};
  if (given_up > acked.forgone && acked.in_flight > 0) {
    sample.forgone_packets = std::min(given_up - acked.forgone, acked.in_flight);
    sample.acked_packets = acked.in_flight - sample.forgone_packets;
  } else {
    sample.acked_packets = acked.in_flight;
  }
  congestion_->on_ack(sample);
  lossy_.refresh(now, round_trip(), queue_);
  prober_.on_progress();
  watch(now);
}

}  // namespace dlcp::core
