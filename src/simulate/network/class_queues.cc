#include "simulate/network/class_queues.h"

#include <algorithm>
#include <utility>

namespace dlcp::simulate {
namespace {

constexpr std::size_t kQuantumBytes = 2048;  // per unit of weight and round
constexpr auto kStrict = static_cast<std::size_t>(SwitchQueue::kStrictHigh);

}  // namespace

bool ClassQueues::has_room(std::size_t index, std::size_t bytes) const {
  const std::size_t held = queues_[index].bytes + bytes;
  if (held > plan_.queues[index].limit_bytes) return false;
  if (buffer_ == nullptr || plan_.dynamic_alpha <= 0) return true;
  const auto free = static_cast<double>(buffer_->free_bytes());
  return bytes <= buffer_->free_bytes() && static_cast<double>(held) <= plan_.dynamic_alpha * free;
}

bool ClassQueues::dropped_early(const Packet& packet, std::size_t index) {
  if (!packet.droppable) return false;
  const std::size_t precedence = std::clamp<std::size_t>(packet.drop_precedence, 1, 3) - 1;
  const double chance = plan_.queues[index].drop[precedence].chance(queues_[index].bytes);
  return chance >= 1 || rng_.chance(chance);
}

void ClassQueues::mark(Packet& packet, std::size_t index, std::size_t held) {
  if (packet.ecn != Ecn::kEct0 && packet.ecn != Ecn::kEct1) return;
  const double chance = plan_.queues[index].mark.chance(held);
  if (chance < 1 && !rng_.chance(chance)) return;
  packet.ecn = Ecn::kCe;
  ++counters_.marked;
}

void ClassQueues::admit(PacketPtr packet) {
  auto index = static_cast<std::size_t>(packet->queue);
  if (dropped_early(*packet, index)) {
    ++counters_.early_dropped;
    return;
  }
  if (!has_room(index, packet->wire_bytes)) {
    if (!plan_.trims || !packet->trimmable || packet->kind != Packet::Kind::kData ||
        !has_room(kStrict, plan_.trimmed_bytes)) {
      ++counters_.dropped;
      return;
    }
    ++counters_.trimmed;
    packet->kind = Packet::Kind::kTrimmed;
    packet->wire_bytes = plan_.trimmed_bytes;
    packet->queue = SwitchQueue::kStrictHigh;
    index = kStrict;
  }
  Queue& queue = queues_[index];
  if (!plan_.marks_at_departure) mark(*packet, index, queue.bytes);
  const std::size_t bytes = packet->wire_bytes;
  queue.bytes += bytes;
  waiting_bytes_ += bytes;
  if (buffer_ != nullptr) buffer_->used_bytes += bytes;
  counters_.deepest_bytes = std::max(counters_.deepest_bytes, queue.bytes);
  queue.packets.push(std::move(packet));
}

PacketPtr ClassQueues::pop(std::size_t index) {
  Queue& queue = queues_[index];
  PacketPtr packet = queue.packets.pop();
  if (plan_.marks_at_departure) mark(*packet, index, queue.bytes);
  const std::size_t bytes = packet->wire_bytes;
  queue.bytes -= bytes;
  queue.served += bytes;
  waiting_bytes_ -= bytes;
  if (buffer_ != nullptr) buffer_->used_bytes -= bytes;
  return packet;
}

std::size_t ClassQueues::next_turn() {
  for (;;) {
    Queue& queue = queues_[turn_];
    if (queue.packets.empty()) {
      queue.deficit = 0;
    } else {
      if (!std::exchange(turn_has_quantum_, true))
        queue.deficit += kQuantumBytes * std::max(1u, plan_.queues[turn_].weight);
      const std::size_t bytes = queue.packets.front().wire_bytes;
      if (bytes <= queue.deficit) {
        queue.deficit -= bytes;
        return turn_;
      }
    }
    turn_ = turn_ + 1 < kClassQueues ? turn_ + 1 : kStrict + 1;
    turn_has_quantum_ = false;
  }
}

PacketPtr ClassQueues::next() {
  if (!queues_[kStrict].packets.empty()) return pop(kStrict);
  if (waiting_bytes_ == 0 || paused_) return nullptr;
  return pop(next_turn());
}

}  // namespace dlcp::simulate
