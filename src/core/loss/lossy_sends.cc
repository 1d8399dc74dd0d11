#include "core/loss/lossy_sends.h"

#include <algorithm>
#include <utility>

#include "util/check.h"

namespace dlcp::core {
namespace {

constexpr unsigned kDoublingsMax = 8;

}  // namespace

void LossySends::on_sent(Time now, std::uint64_t number, wire::PathMark mark, LicensedEnd ends) {
  if (messages_.empty() || messages_.back().number != number) {
    messages_.push_back({});
    messages_.back().number = number;
  }
  Message& message = messages_.back();
  // The newest path is the last of the list: bursts stay on one path, and SENT_ONCE goes there
  // first.
  if (message.marks.empty() || message.marks.back().path != mark.path) {
    std::erase_if(message.marks, [&](const auto& other) { return other.path == mark.path; });
    message.marks.push_back(mark);
  }
  message.marks.back().sequence = mark.sequence;
  if (ends == LicensedEnd::kNothing) return;
  message.all_sent = true;
  message.to_say = ends == LicensedEnd::kEverything ? message.marks.size() : 1;
  message.said_at = now;
  due_ += message.to_say;
}

void LossySends::say_on_all(Message& message) {
  due_ += message.marks.size() - message.to_say;
  message.to_say = message.marks.size();
}

void LossySends::refresh(Time now, Duration round_trip, const SendQueue& queue) {
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    Message& message = messages_[i];
    if (!queue.forgoes(message.number)) {
      check(message.to_say <= due_, "the frames that are due are those of all messages");
      due_ -= message.to_say;
      message.to_say = 0;
      message.all_sent = false;
      continue;
    }
    const bool waited = now - message.said_at >= round_trip * 3 / 2;
    if (message.all_sent && message.to_say == 0 && waited) say_on_all(message);
  }
  while (!messages_.empty() && !queue.forgoes(messages_.front().number))
    messages_.pop_front();
}

void LossySends::on_silence() {
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    if (messages_[i].all_sent) say_on_all(messages_[i]);
  }
}

Time LossySends::Message::again_at(Duration round_trip) const {
  if (!all_sent || to_say > 0) return kNever;
  return said_at + round_trip * (2 << std::min(repeats, kDoublingsMax));
}

void LossySends::on_timeout(Time now, Duration round_trip) {
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    Message& message = messages_[i];
    if (message.again_at(round_trip) > now) continue;
    say_on_all(message);
    ++message.repeats;
  }
}

Time LossySends::next_timeout(Duration round_trip) const {
  Time next = kNever;
  for (std::size_t i = 0; i < messages_.size(); ++i)
    next = std::min(next, messages_[i].again_at(round_trip));
  return next;
}

std::optional<LossySends::Due> LossySends::pop_due(Time now) {
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    Message& message = messages_[i];
    if (message.to_say == 0) continue;
    const std::size_t at = message.marks.size() - message.to_say;
    --message.to_say;
    --due_;
    message.said_at = now;
    return Due{message.number, message.marks[at].path, &message.marks};
  }
  return std::nullopt;
}

}  // namespace dlcp::core
