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

void StreamSchedule::add(std::uint32_t number, SendStream& stream) {
  busy_.push_back(entries_.size());
  entries_.push_back({number, &stream});
}

void StreamSchedule::wake(std::uint32_t number) {
  const std::size_t index = index_of(number);
  const auto at = std::ranges::lower_bound(busy_, index);
  if (at == busy_.end() || *at != index) busy_.insert(at, index);
}

void StreamSchedule::rest() {
  std::erase_if(
      busy_,
      [&](std::size_t index) {
        const SendStream& stream = *entries_[index].stream;
        return stream.queue().empty() && !stream.owes_progress();
      });
}

std::size_t StreamSchedule::index_of(std::uint32_t number) const {
  const auto at = std::lower_bound(
      entries_.begin(), entries_.end(), number,
      [](const Entry& entry, std::uint32_t wanted) { return entry.number < wanted; });
  const bool found = at != entries_.end() && at->number == number;
  return found ? static_cast<std::size_t>(at - entries_.begin()) : size();
}

SendStream* StreamSchedule::find(std::uint32_t number) const {
  if (turn_ < entries_.size() && entries_[turn_].number == number) return entries_[turn_].stream;
  const std::size_t index = index_of(number);
  return index == size() ? nullptr : entries_[index].stream;
}

void StreamSchedule::remove(std::uint32_t number) {
  const std::size_t index = index_of(number);
  if (index == size()) return;
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(index));
  std::erase(busy_, index);
  for (std::size_t& other : busy_)
    other -= other > index ? 1 : 0;
  for (std::size_t* const place : {&turn_, &ring_})
    if (index < *place || *place == entries_.size()) *place -= std::min<std::size_t>(*place, 1);
}

// The first busy stream behind `place`, in a circle that ends there, for which `holds` is true;
// size(): there is none.
template <class Holds>
std::size_t StreamSchedule::find_behind(std::size_t place, const Holds& holds) const {
  const auto fits = [&](std::size_t index) { return holds(entries_[index]); };
  const auto behind = std::ranges::upper_bound(busy_, place);
  auto at = std::find_if(behind, busy_.end(), fits);
  if (at != busy_.end()) return *at;
  at = std::find_if(busy_.begin(), behind, fits);
  return at == behind ? size() : *at;
}

SendStream* StreamSchedule::next() {
  if (entries_.empty()) return nullptr;
  if (entries_[turn_].holds_turn()) return entries_[turn_].stream;
  // A turn that ends for lack of data leaves nothing for later.
  entries_[turn_].left = std::min<std::ptrdiff_t>(entries_[turn_].left, 0);
  const std::size_t lost =
      find_behind(turn_, [](const Entry& entry) { return entry.stream->queue().has_lost(); });
  if (lost != size()) return let_retransmit(lost);
  const std::size_t urgent =
      find_behind(turn_, [](const Entry& entry) { return entry.stream->queue().next_is_urgent(); });
  if (urgent != size()) {
    turn_ = urgent;
    grant(entries_[turn_]);
  } else if (entries_[ring_].holds_turn()) {
    turn_ = ring_;
  } else {
    const std::size_t next =
        find_behind(ring_, [](const Entry& entry) { return entry.can_send(); });
    if (next == size()) return nullptr;
    turn_ = ring_ = next;
    grant(entries_[turn_]);
  }
  return entries_[turn_].stream;
}

void StreamSchedule::prefer(std::uint32_t number) {
  const std::size_t index = index_of(number);
  if (index != size()) let_retransmit(index);
}

// Lets the stream send one packet, without using up bytes of its regular turn.
SendStream* StreamSchedule::let_retransmit(std::size_t index) {
  turn_ = index;
  entries_[index].left = std::max<std::ptrdiff_t>(entries_[index].left, 1);
  return entries_[index].stream;
}

bool StreamSchedule::has_next() const {
  if (turn_ < entries_.size() && entries_[turn_].stream->queue().has_next()) return true;
  return any_busy([](const SendStream& stream) { return stream.queue().has_next(); });
}

}  // namespace dlcp::core
