// State of one path at a receiver.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "util/time.h"
#include "wire/data/data_header.h"
#include "wire/frames/loss_frame.h"
#include "wire/serial.h"

namespace dlcp::core {

struct PathSeen {
  bool any = false;
  bool changed = false;  // since the last ACK
  std::uint8_t ce_marks = 0;
  std::uint32_t echo = 0;
  Time arrived_at{};
  std::uint64_t highest_sequence = 0;
  // The highest sequence of a licensed packet plus one, in the bulk and in the urgent queue of
  // switches: order is kept only within a queue.
  std::array<std::uint64_t, 2> licensed_below{};

  // Returns true if the packet is the newest of the path.
  bool on_packet(const wire::DataHeader& header) {
    const std::uint64_t sequence = wire::expand_serial(header.path_sequence, highest_sequence);
    const bool newest = !any || static_cast<std::int64_t>(sequence - highest_sequence) > 0;
    if (newest) highest_sequence = sequence;
    any = true;
    if (header.licensed) {
      const bool urgent = row_of(header.traffic_class).queue == SwitchQueue::kUrgent;
      licensed_below[urgent] = std::max(licensed_below[urgent], sequence + 1);
    }
    return newest;
  }
  // No packet that was sent before `mark` in that queue is in flight any more.
  bool passed(const wire::PathMark& mark, bool urgent) const {
    return any && licensed_below[urgent] > wire::expand_serial(mark.sequence, highest_sequence);
  }
};

}  // namespace dlcp::core
