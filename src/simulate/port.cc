#include "simulate/port.h"

#include <algorithm>
#include <utility>

namespace dlcp::simulate {
namespace {

// The first whole nanosecond that is not before it.
Time time_of_ps(std::int64_t ps) {
  return time_from_ns((ps + 999) / 1000);
}

}  // namespace

void Port::enqueue(Time now, PacketPtr packet) {
  if (!wakes_ && now >= time_of_ps(free_at_ps_)) {
    transmit(now, std::move(packet));
    return;
  }
  discipline_->admit(std::move(packet));
  if (!discipline_->idle()) wake_when_free();
}

void Port::transmit(Time now, PacketPtr packet) {
  // Back to back with the one before, to the picosecond.
  const std::int64_t begins = now == time_of_ps(free_at_ps_) ? free_at_ps_ : ns_of(now) * 1000;
  free_at_ps_ = begins + static_cast<std::int64_t>(packet->wire_bytes * ps_per_byte_);
  ++counters_.packets;
  counters_.bytes += packet->wire_bytes;
  if (down_) {
    ++counters_.while_down;
  } else if (rng_.chance(loss_)) {
    ++counters_.lost;
  } else {
    events_.schedule(time_of_ps(free_at_ps_) + wire_.delay, far_end_, std::move(packet));
  }
  if (feeder_ != nullptr || !discipline_->idle()) wake_when_free();
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
