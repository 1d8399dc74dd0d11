#include "core/bounded_loss/lossy_sends.h"

#include <algorithm>
#include <utility>

#include "util/check.h"
#include "wire/serial.h"

namespace dlcp::core {
namespace {

// At a loss of 5%, one path in 160,000 loses SENT_ONCE as often.
constexpr unsigned kUnansweredMost = 4;
// A receiver answers late if it waits for copies into the memory of a device, or for the end of a
// card's permissions. If these take longer, some packets are sent twice.
constexpr Duration kCopiesMost = 5ms;

// Lost bytes outside the holes that STOP names count as protected.
void count_lost(const SendQueue& queue, std::uint64_t number, const wire::Stop& stop,
                Counters& counters) {
  std::uint64_t droppable = 0;
  for (const wire::Hole& hole : stop.holes) {
    for (std::uint32_t i = 0; i < hole.count && queue.has_chunk({number, hole.first + i}); ++i) {
      const ChunkRef chunk{number, hole.first + i};
      if (row_of(queue.class_of(chunk)).early == EarlyTreatment::kDrop)
        droppable += queue.view(chunk).payload.size();
    }
  }
  droppable = std::min<std::uint64_t>(droppable, stop.lost_bytes);
  const bool urgent = queue.licence(number).urgent;
  counters.add(urgent ? Counter::kLostUrgentDroppable : Counter::kLostBulkDroppable, droppable);
  counters.add(urgent ? Counter::kLostUrgentProtected : Counter::kLostBulkProtected,
               stop.lost_bytes - droppable);
}

}  // namespace

void LossySends::on_sent(Time now, std::uint64_t number, wire::PathMark mark, LicensedEnd ends,
                         bool placed) {
  if (messages_.empty() || messages_.back().number != number) {
    messages_.push_back({});
    messages_.back().number = number;
  }
  Message& message = messages_.back();
  // The newest path is the last in the list: bursts stay on one path, and SENT_ONCE takes it first.
  if (message.marks.empty() || message.marks.back().path != mark.path) {
    std::erase_if(message.marks, [&](const auto& other) { return other.path == mark.path; });
    message.marks.push_back(mark);
  }
  message.marks.back().sequence = mark.sequence;
  message.any_placed |= placed;
  if (ends == LicensedEnd::kNothing) return;
  message.all_sent = true;
  message.sent_once_at = message.all_sent_at = now;
  // SENT_ONCE would overtake placed packets. It waits until refresh() or on_silence(); a message
  // that loses nothing is complete by then.
  if (message.any_placed) return;
  message.to_say = ends == LicensedEnd::kEverything ? message.marks.size() : 1;
  message.said_on_all = message.to_say == message.marks.size();
  due_ += message.to_say;
}

void LossySends::say_on_all(Message& message) {
  due_ += message.marks.size() - message.to_say;
  message.to_say = message.marks.size();
  message.said_on_all = true;
}

// Plans SENT_ONCE again on all paths, or makes the message exact: then it returns true. A host that
// is silent may only be busy, and one that has not posted the receive cannot decide.
bool LossySends::repeat(Time now, Message& message, const Peer& peer, SendQueue& queue) {
  const bool may_answer = queue.is_posted(message.number) && peer.heard_at > message.sent_once_at;
  if (message.said_on_all && may_answer) ++message.unanswered;
  // The receiver probably waits for a path that carries neither packets of the message nor
  // SENT_ONCE.
  if (message.unanswered >= kUnansweredMost && now - message.all_sent_at >= kCopiesMost) {
    queue.need(message.number);
    return true;
  }
  say_on_all(message);
  return false;
}

void LossySends::settle(Message& message) {
  check(message.to_say <= due_, "the number of due frames is the sum over all messages");
  due_ -= message.to_say;
  message.to_say = 0;
  message.all_sent = false;
}

void LossySends::forget_settled(const SendQueue& queue) {
  for (std::size_t i = 0; i < messages_.size(); ++i)
    if (!queue.forgoes(messages_[i].number)) settle(messages_[i]);
  while (!messages_.empty() && !queue.forgoes(messages_.front().number))
    messages_.pop_front();
}

bool LossySends::refresh(Time now, const Peer& peer, SendQueue& queue) {
  forget_settled(queue);
  bool any_exact = false;
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    Message& message = messages_[i];
    const bool waited = now - message.sent_once_at >= peer.round_trip * 3 / 2;
    if (message.all_sent && message.to_say == 0 && waited)
      any_exact = repeat(now, message, peer, queue) || any_exact;
  }
  if (any_exact) forget_settled(queue);
  return any_exact;
}

bool LossySends::awaits_answer() const {
  for (std::size_t i = 0; i < messages_.size(); ++i)
    if (messages_[i].all_sent) return true;
  return false;
}

bool LossySends::on_silence(Time now, const Peer& peer, SendQueue& queue) {
  const bool any_exact = refresh(now, peer, queue);
  for (std::size_t i = 0; i < messages_.size(); ++i)
    if (messages_[i].all_sent) say_on_all(messages_[i]);
  return any_exact;
}

LossySends::Stopped LossySends::on_stop(SendQueue& queue, std::uint64_t number,
                                        const wire::Stop& stop, std::uint32_t payload_bytes,
                                        Counters& counters) {
  if (queue.forgoes(number)) count_lost(queue, number, stop, counters);
  SendQueue::Acked acked;
  queue.stop(number, acked);
  Stopped stopped{acked.in_flight, 0, acked.in_flight + acked.late > 0};
  // Most of the data that was given up had not counted as lost before.
  const std::uint32_t given_up = stop.lost_bytes / payload_bytes;
  if (given_up > acked.late) {
    stopped.forgone = std::min(given_up - acked.late, acked.in_flight);
    stopped.acked -= stopped.forgone;
  }
  return stopped;
}

std::size_t LossySends::poll_transmit(Time now, const SendQueue& queue, const Recipient& to,
                                      FrameWriter& frames, std::span<wire::TxPacket> out) {
  std::size_t count = 0;
  for (std::size_t i = 0; due_ > 0 && i < messages_.size(); ++i) {
    Message& message = messages_[i];
    while (message.to_say > 0 && count < out.size()) {
      const wire::PathIndex path = message.marks[message.marks.size() - message.to_say].path;
      --message.to_say;
      --due_;
      message.sent_once_at = now;
      if (!queue.forgoes(message.number)) continue;  // complete, or needed whole, meanwhile
      wire::SentOnce frame;
      frame.destination = to.token;
      frame.message = static_cast<std::uint32_t>(message.number);
      frame.message_bytes = static_cast<std::uint32_t>(queue.message_bytes(message.number));
      frame.echo = wire::wire_time(now);
      frame.path = path;
      frame.urgent = queue.licence(message.number).urgent;
      frame.marks = message.marks;
      frames.emit(frame, path, *to.address, out[count]);
      out[count++].traffic_class =  // in the queue of the data, so that it cannot overtake them
          frame.urgent ? TrafficClass::kUrgentProtected : TrafficClass::kBulkProtected;
    }
  }
  return count;
}

}  // namespace dlcp::core
