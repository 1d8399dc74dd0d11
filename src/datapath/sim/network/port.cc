#include "datapath/sim/network/port.h"

#include <algorithm>
#include <utility>

namespace dlcp::datapath::sim {
namespace {

constexpr std::size_t kQuantumBytes = 2048;  // per unit of weight and round
constexpr auto kStrict = static_cast<std::size_t>(SwitchQueue::kStrictHigh);
constexpr auto kDefaultQueue = static_cast<std::size_t>(SwitchQueue::kExact);

}  // namespace

const TrafficClassRow* row_of_dscp(std::uint8_t dscp) {
  for (const auto& row : kTrafficClasses)
    if (row.dscp == dscp) return &row;
  return nullptr;
}

std::size_t Port::queued_bytes() const {
  std::size_t total = 0;
  for (const auto& queue : queues_)
    total += queue.bytes;
  return total;
}

bool Port::has_room(std::size_t wire_bytes) const {
  return queues_[kDefaultQueue].bytes + wire_bytes <= config_.queue_bytes;
}

bool Port::dropped_or_marked(Frame& frame, const TrafficClassRow* row, std::size_t held) {
  if (!config_.by_class || row == nullptr) return false;
  if (row->early == EarlyTreatment::kMark && held > config_.early_bytes) {
    if (frame.ecn == Ecn::kEct0 || frame.ecn == Ecn::kEct1) {
      frame.ecn = Ecn::kCe;
      ++counters_.marks;
    }
  } else if (row->early == EarlyTreatment::kDrop) {
    const std::size_t halves = 5u - row->drop_precedence;  // 3 -> 2 halves, 2 -> 3, 1 -> 4
    if (held > config_.early_bytes * halves / 2) {
      ++counters_.early_drops;
      return true;
    }
  }
  return false;
}

void Port::enqueue(Time now, FramePtr frame) {
  const TrafficClassRow* row = row_of_dscp(frame->dscp);
  const std::size_t index =
      config_.by_class && row != nullptr ? static_cast<std::size_t>(row->queue) : kDefaultQueue;
  Queue& queue = queues_[index];
  const std::size_t size = frame->wire_bytes();
  if (queue.bytes + size > config_.queue_bytes) {
    ++counters_.tail_drops;
    return;
  }
  if (dropped_or_marked(*frame, row, queue.bytes)) return;
  queue.bytes += size;
  queue.frames.push_back(std::move(frame));
  counters_.deepest_bytes = std::max(counters_.deepest_bytes, queue.bytes);
  if (!transmitting_) start_next(now);
}

FramePtr Port::pop(std::size_t index) {
  Queue& queue = queues_[index];
  FramePtr frame = std::move(queue.frames.front());
  queue.frames.pop_front();
  queue.bytes -= frame->wire_bytes();
  counters_.sent_bytes[index] += frame->wire_bytes();
  return frame;
}

FramePtr Port::next_frame() {
  if (!queues_[kStrict].frames.empty()) return pop(kStrict);
  if (queued_bytes() == 0) return nullptr;
  for (;;) {
    Queue& queue = queues_[turn_];
    if (queue.frames.empty()) {
      queue.deficit = 0;
    } else {
      if (!std::exchange(turn_has_quantum_, true))
        queue.deficit += kQuantumBytes * std::max(1u, config_.weights[turn_]);
      const std::size_t size = queue.frames.front()->wire_bytes();
      if (size <= queue.deficit) {
        queue.deficit -= size;
        return pop(turn_);
      }
    }
    turn_ = turn_ + 1 < kSwitchQueueCount ? turn_ + 1 : kStrict + 1;
    turn_has_quantum_ = false;
  }
}

void Port::start_next(Time now) {
  FramePtr frame = next_frame();
  transmitting_ = frame != nullptr;
  if (!transmitting_) return;
  events_.schedule(now + link_.serialisation(*frame), *this);
  link_.send(now, std::move(frame));
}

void Port::on_event(Time now, FramePtr) {
  start_next(now);
}

}  // namespace dlcp::datapath::sim
