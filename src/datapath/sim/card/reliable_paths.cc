#include "datapath/sim/card/reliable_paths.h"

#include <utility>

#include "datapath/repeat_time.h"
#include "util/hash/crc32c.h"

namespace dlcp::datapath::sim {

void ReliablePaths::open(LinkId link, Duration round_trip) {
  patience_[link] = 1 << (repeat_exponent(round_trip) - repeat_exponent(Duration::zero()));
}

void ReliablePaths::close(LinkId link) {
  patience_.erase(link);
  std::erase_if(
      senders_, [&](const auto& entry) { return entry.first.first == link; });
  std::erase_if(receivers_, [&](const auto& entry) { return entry.first.first == link; });
}

// ---- the sender's side ----

std::uint32_t ReliablePaths::epoch(const Key& key) const {
  const auto found = senders_.find(key);
  return found == senders_.end() ? 1 : found->second.epoch;
}

void ReliablePaths::wait(Time now, const Key& key, Sender& sender) {
  sender.repeat_at = kNever;
  if (sender.unfinished.empty()) return;
  sender.repeat_at = now + config_.repeat_after * patience_.at(key.first);
  schedule_(sender.repeat_at);
}

void ReliablePaths::post(Time now, const Key& key, Frame frame) {
  Sender& sender = senders_[key];
  frame.placed->kind = PlacedHead::Kind::kReliable;
  frame.placed->epoch = sender.epoch;
  frame.placed->number = sender.next++;
  sender.unfinished.push_back(std::move(frame));
  if (sender.unfinished.size() == 1) wait(now, key, sender);
  send_(now, key, sender.unfinished.back());
}

void ReliablePaths::fail(Sender& sender) {
  const std::uint32_t epoch = sender.epoch + 1;
  sender = {};
  sender.epoch = epoch;
  ++failed_;
}

void ReliablePaths::repeat(Time now, const Key& key, Sender& sender) {
  wait(now, key, sender);
  for (const Frame& frame : sender.unfinished) {
    ++repeats_;
    send_(now, key, frame);
  }
}

void ReliablePaths::on_answer(Time now, const Key& key, const PlacedHead& answer) {
  const auto found = senders_.find(key);
  if (found == senders_.end() || answer.epoch != found->second.epoch) return;
  Sender& sender = found->second;
  if (answer.kind == PlacedHead::Kind::kRefused) return fail(sender);
  bool any = false;
  while (!sender.unfinished.empty() && sender.unfinished.front().placed->number < answer.number) {
    sender.unfinished.pop_front();
    any = true;
  }
  if (any) {
    sender.tries = 0;
    wait(now, key, sender);
  }
  if (answer.kind == PlacedHead::Kind::kGap) repeat(now, key, sender);
}

std::size_t ReliablePaths::on_timer(Time now) {
  for (auto& [key, sender] : senders_) {
    if (sender.unfinished.empty() || sender.repeat_at > now) continue;
    if (++sender.tries > config_.repeats_max)
      fail(sender);
    else
      repeat(now, key, sender);
  }
  return std::exchange(failed_, 0);
}

// ---- the receiver's side ----

void ReliablePaths::begin(const Key& key, std::uint32_t epoch) {
  Receiver& receiver = receivers_[key];
  if (epoch <= receiver.epoch) return;
  receiver = {};
  receiver.epoch = epoch;
}

// `number` of an answer: the packet that is expected next.
void ReliablePaths::answer(Time now, const Key& key, const Frame& frame, PlacedHead::Kind kind) {
  Frame back;
  back.placed = frame.placed;
  back.placed->kind = kind;
  back.placed->number = receivers_[key].expected;
  back.placed->checksum = crc32c(back.bytes);
  back.dscp = frame.dscp;
  send_(now, key, back);
}

ReliablePaths::Verdict ReliablePaths::look(Time now, const Key& key, const Frame& frame) {
  const auto found = receivers_.find(key);
  if (found == receivers_.end()) return Verdict::kIgnored;
  Receiver& receiver = found->second;
  if (frame.placed->epoch != receiver.epoch || receiver.has_failed) return Verdict::kIgnored;
  if (frame.placed->number == receiver.expected) return Verdict::kNext;
  if (frame.placed->number < receiver.expected) {
    ++doubles_;
    answer(now, key, frame, PlacedHead::Kind::kAck);
  } else if (!std::exchange(receiver.gap_reported, true)) {
    answer(now, key, frame, PlacedHead::Kind::kGap);
  }
  return Verdict::kAnswered;
}

void ReliablePaths::take(Time now, const Key& key, const Frame& frame) {
  Receiver& receiver = receivers_[key];
  ++receiver.expected;
  receiver.gap_reported = false;
  answer(now, key, frame, PlacedHead::Kind::kAck);
}

void ReliablePaths::refuse(Time now, const Key& key, const Frame& frame) {
  receivers_[key].has_failed = true;
  answer(now, key, frame, PlacedHead::Kind::kRefused);
}

}  // namespace dlcp::datapath::sim
