#include "core/association/stream_schedule.h"

#include <algorithm>

#include "core/streams/send_stream.h"

namespace dlcp::core {

bool StreamSchedule::Entry::can_send() const {
  return stream->queue().has_next();
}
bool StreamSchedule::Entry::holds_turn() const {
  return left > 0 && can_send();
}

// Subtracts the bytes by which the previous turn exceeded its quantum.
void StreamSchedule::grant(Entry& entry) {
  entry.left = std::min<std::ptrdiff_t>(entry.left, 0) + std::ptrdiff_t{kQuantumBytes};
}

std::size_t StreamSchedule::index_of(std::uint32_t number) const {
  const auto at = std::lower_bound(
      entries_.begin(), entries_.end(), number,
      [](const Entry& entry, std::uint32_t wanted) { return entry.number < wanted; });
  return static_cast<std::size_t>(at - entries_.begin());
}

SendStream* StreamSchedule::find(std::uint32_t number) const {
  if (turn_ < entries_.size() && entries_[turn_].number == number) return entries_[turn_].stream;
  const std::size_t index = index_of(number);
  if (index == entries_.size() || entries_[index].number != number) return nullptr;
  return entries_[index].stream;
}

void StreamSchedule::remove(std::uint32_t number) {
  const std::size_t index = index_of(number);
  if (index == entries_.size() || entries_[index].number != number) return;
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(index));
  for (std::size_t* const place : {&turn_, &ring_})
    if (index < *place || *place == entries_.size()) *place -= std::min<std::size_t>(*place, 1);
}

SendStream* StreamSchedule::next() {
  if (entries_.empty()) return nullptr;
  if (entries_[turn_].holds_turn()) return entries_[turn_].stream;
  // A turn that ends for lack of data leaves nothing for later.
  entries_[turn_].left = std::min<std::ptrdiff_t>(entries_[turn_].left, 0);
  const std::size_t count = entries_.size();
  std::size_t urgent = count;
  for (std::size_t step = 1; step <= count; ++step) {
    const std::size_t index = (turn_ + step) % count;
    const SendQueue& queue = entries_[index].stream->queue();
    if (queue.has_lost()) return retransmits(index);
    if (urgent == count && queue.next_is_urgent()) urgent = index;
  }
  if (urgent != count) {
    turn_ = urgent;
    grant(entries_[turn_]);
  } else if (entries_[ring_].holds_turn()) {
    turn_ = ring_;
  } else {
    std::size_t step = 1;
    while (step <= count && !entries_[(ring_ + step) % count].can_send())
      ++step;
    if (step > count) return nullptr;
    turn_ = ring_ = (ring_ + step) % count;
    grant(entries_[turn_]);
  }
  return entries_[turn_].stream;
}

void StreamSchedule::prefer(std::uint32_t number) {
  const std::size_t index = index_of(number);
  if (index != entries_.size() && entries_[index].number == number) retransmits(index);
}

// Lets the stream send one packet, without using up bytes of its regular turn.
SendStream* StreamSchedule::retransmits(std::size_t index) {
  turn_ = index;
  entries_[index].left = std::max<std::ptrdiff_t>(entries_[index].left, 1);
  return entries_[index].stream;
}

bool StreamSchedule::has_next() const {
  if (turn_ < entries_.size() && entries_[turn_].stream->queue().has_next()) return true;
  return any_of([](const SendStream& stream) { return stream.queue().has_next(); });
}

}  // namespace dlcp::core
