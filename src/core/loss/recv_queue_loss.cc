// Completion with holes: the receiver's side of bounded loss.
#include "core/loss/loss_ledger.h"
#include "core/recv_queue.h"
#include "wire/serial.h"

namespace dlcp::core {

bool RecvQueue::on_sent_once(const wire::SentOnce& frame) {
  const std::uint64_t number = wire::expand_serial(frame.message, first_);
  if (number - first_ >= std::uint64_t{1} << 63) return true;  // done long ago; the ACK says so
  if (number - first_ >= 2 * requests_max_) return false;
  while (messages_.size() <= number - first_)
    messages_.push_back({});
  RecvMessage& message = at(number);
  if (!start(message, frame.message_bytes)) return false;
  if (message.posted && message.bytes > message.buffer.size()) {
    overflow_ = Overflow{message.bytes, message.buffer.size()};
    return true;
  }
  if (message.complete()) return true;
  if (!message.lossy) {
    message.lossy = std::make_unique<LossyReceive>();
  }
  if (!message.announced) ++announced_;
  message.announced = true;
  message.lossy->on_sent_once(frame);
  message.lossy->needed = false;  // asks again: the last NEED may have been lost
  return true;
}

std::size_t RecvQueue::fill_holes(RecvMessage& message, std::vector<Placement>* placements,
                                  std::vector<wire::Hole>* holes) {
  std::size_t bytes = 0;
  const auto fill = [&](std::size_t from, std::size_t to) {
    bytes += to - from;
    if (placements == nullptr || from == to) return;
    Placement& placement = placements->emplace_back();
    placement.destination = message.buffer.data() + from;
    placement.zeros = to - from;
  };
  for (std::size_t begin = message.present.next_clear(0); begin < message.chunks;) {
    const std::size_t end = message.present.next_set(begin);
    std::size_t from = begin * payload_bytes_;
    // Of chunks that came in pieces only what is missing: no byte is written twice.
    for (std::size_t chunk = begin; message.partial && chunk < end; ++chunk) {
      const auto number = static_cast<std::uint32_t>(chunk);
      if (!message.partial->contains(number)) continue;
      const std::size_t at = chunk * payload_bytes_;
      fill(from, at);
      const std::uint32_t size = chunk_bytes(message, number);
      for (const auto& run : message.partial->missing(number, size))
        fill(at + run.begin, at + run.end);
      from = at + size;
    }
    fill(from, std::min<std::size_t>(end * payload_bytes_, message.bytes));
    if (placements != nullptr) {
      holes->push_back(
          {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin)});
      for (std::size_t chunk = begin; chunk < end; ++chunk)
        message.present.set(chunk);  // what comes late finds its place taken
    }
    begin = message.present.next_clear(end);
  }
  return bytes;
}

void RecvQueue::settle_losses(std::span<const PathSeen> paths, LossLedger& ledger,
                              std::size_t licence_bytes_min, std::vector<Placement>& placements,
                              std::vector<LossDecision>& out) {
  bool stopped = false;
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    RecvMessage& message = messages_[i];
    if (!message.announced || !message.posted || message.complete()) continue;
    LossyReceive& lossy = *message.lossy;
    if (lossy.needed || !lossy.quiet(paths)) continue;
    LossDecision& decision = out.emplace_back();
    decision.message = static_cast<std::uint32_t>(first_ + i);
    decision.echo = lossy.echo();
    decision.path = lossy.path();
    const std::size_t missing = fill_holes(message, nullptr, nullptr);
    // What we dropped ourselves for want of room the network has not lost.
    decision.stop = !message.was_needed && !message.dropped_here &&
                    lossy.licence.covers(message.bytes, licence_bytes_min) &&
                    ledger.reserve(lossy.licence, missing, message.bytes);
    if (!decision.stop) {
      lossy.needed = true;
      message.was_needed = true;
      continue;
    }
    decision.lost_packets = message.chunks - message.received;
    decision.lost_bytes =
        static_cast<std::uint32_t>(fill_holes(message, &placements, &decision.holes));
    message.lost_bytes = decision.lost_bytes;
    message.received = message.chunks;
    stopped = true;
  }
  if (stopped) settle();
}

}  // namespace dlcp::core
