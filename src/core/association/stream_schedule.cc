#include "core/association/stream_schedule.h"

#include <algorithm>

#include "core/streams/send_stream.h"

namespace dlcp::core {

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
  if (index == turn_) left_ = 0;
  if (index < turn_) --turn_;
}

SendStream* StreamSchedule::next() {
  if (entries_.empty()) return nullptr;
  if (turn_ >= entries_.size()) turn_ = 0;
  if (left_ > 0 && entries_[turn_].stream->queue().has_next()) return entries_[turn_].stream;
  const std::size_t nobody = entries_.size();
  std::size_t chosen = nobody;
  for (std::size_t step = 1; step <= entries_.size(); ++step) {
    const std::size_t index = (turn_ + step) % entries_.size();
    const SendQueue& queue = entries_[index].stream->queue();
    if (!queue.has_next()) continue;
    const bool urgent = queue.next_is_urgent();
    if (chosen == nobody || urgent) chosen = index;
    if (urgent) break;
  }
  if (chosen == nobody) return nullptr;
  turn_ = chosen;
  left_ = kQuantumBytes;
  return entries_[turn_].stream;
}

void StreamSchedule::prefer(std::uint32_t number) {
  const std::size_t index = index_of(number);
  if (index == entries_.size() || entries_[index].number != number) return;
  turn_ = index;
  left_ = kQuantumBytes;
}

bool StreamSchedule::has_next() const {
  if (turn_ < entries_.size() && entries_[turn_].stream->queue().has_next()) return true;
  return any_of([](const SendStream& stream) { return stream.queue().has_next(); });
}

}  // namespace dlcp::core
