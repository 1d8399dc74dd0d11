#include "simulate/network/port.h"

#include <algorithm>
#include <utility>

namespace dlcp::simulate {
namespace {

// Rounds up to a whole nanosecond.
Time time_of_ps(std::int64_t ps) {
  return time_from_ns((ps + 999) / 1000);
}

}  // namespace

void Port::enqueue(Time now, PacketPtr packet) {
  if (!wakes_ && !paused_ && now >= time_of_ps(free_at_ps_)) {
    transmit(now, std::move(packet));
    return;
  }
  discipline_->admit(std::move(packet));
  if (!discipline_->idle()) wake_when_free();
}

void Port::transmit(Time now, PacketPtr packet) {
  // Consecutive packets are back to back with picosecond precision.
  const std::int64_t begins = now == time_of_ps(free_at_ps_) ? free_at_ps_ : ns_of(now) * 1000;
  free_at_ps_ = begins + static_cast<std::int64_t>(packet->wire_bytes * ps_per_byte_);
  if (packet->via != nullptr) packet->via->let_go(now, packet->wire_bytes);
  const bool counts = flow_control_ && packet->queue != SwitchQueue::kStrictHigh;
  packet->via = counts ? this : nullptr;
  ++counters_.packets;
  counters_.bytes += packet->wire_bytes;
  if (down_)
    ++counters_.while_down;
  else if (rng_.chance(loss_))
    ++counters_.lost;
  else
    events_.schedule(time_of_ps(free_at_ps_) + wire_.delay, far_end_, std::move(packet));
  if (feeder_ != nullptr || !discipline_->idle()) wake_when_free();
}

void Port::hold(Time now, std::size_t bytes) {
  held_bytes_ += bytes;
  if (asked_ || held_bytes_ <= flow_control_->off_bytes) return;
  asked_ = true;
  ++counters_.pauses;
  events_.schedule(now + wire_.delay, rein_);
}

void Port::let_go(Time now, std::size_t bytes) {
  held_bytes_ -= bytes;
  if (!asked_ || held_bytes_ >= flow_control_->on_bytes) return;
  asked_ = false;
  events_.schedule(now + wire_.delay, rein_);
}

void Port::set_paused(bool paused) {
  paused_ = paused;
  discipline_->set_paused(paused_);
  if (!paused_ && !discipline_->idle()) wake_when_free();
}

void Port::wake_when_free() {
  if (std::exchange(wakes_, true)) return;
  events_.schedule(time_of_ps(free_at_ps_), *this);
}

void Port::on_event(Time now, PacketPtr) {
  wakes_ = false;
  if (PacketPtr packet = discipline_->next()) transmit(now, std::move(packet));
  if (feeder_ != nullptr && discipline_->waiting_bytes() <= room_bytes_) feeder_->on_room(now);
}

}  // namespace dlcp::simulate
