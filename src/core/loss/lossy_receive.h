// What a receiver keeps of a message that its sender will not repair unasked (SENT_ONCE has come,
// or a licence was posted): where packets of it may still be on their way, and what was decided.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/loss/licence.h"
#include "util/time.h"
#include "wire/data_header.h"
#include "wire/loss_frame.h"
#include "wire/serial.h"

namespace dlcp::core {

// What one path has brought so far.
struct PathSeen {
  bool any = false;
  bool changed = false;  // since the last ACK
  std::uint8_t ce_marks = 0;
  std::uint32_t echo = 0;
  Time arrived_at{};
  std::uint64_t highest_sequence = 0;
  // One more than the highest sequence of a licensed packet, in the bulk and in the urgent queue of
  // switches: only what waits in the same queue keeps its order.
  std::array<std::uint64_t, 2> licensed_below{};

  // Returns true if it is the newest of the path.
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
  bool passed(const wire::PathMark& mark, bool urgent) const {
    return any && licensed_below[urgent] > wire::expand_serial(mark.sequence, highest_sequence);
  }
};

// What a receiver decided about a message with holes; the sender is told.
struct LossDecision {
  bool stop = false;  // complete without them; else they are needed
  std::uint32_t message = 0;
  std::uint32_t lost_packets = 0;
  std::uint32_t lost_bytes = 0;
  std::uint32_t echo = 0;
  std::uint8_t path = 0;
  std::vector<wire::Hole> holes;
};

class LossyReceive {
 public:
  Licence licence;      // ours; without one everything is needed
  bool needed = false;  // the sender was asked for the rest: exact from here on

  void on_sent_once(const wire::SentOnce& frame) {
    if (!announced_) marks_ = frame.marks;
    announced_ = true;
    // It came behind everything that the message had sent on this path.
    std::erase_if(marks_, [&](const wire::PathMark& mark) { return mark.path == frame.path; });
    echo_ = frame.echo;
    path_ = frame.path;
    urgent_ = frame.urgent;
  }

  // True when all has been sent and nothing is expected any more: every path has brought the
  // message's last packet on it, a later one of its queue, or a SENT_ONCE.
  bool quiet(std::span<const PathSeen> paths) {
    std::erase_if(marks_, [&](const wire::PathMark& mark) {
      return mark.path < paths.size() && paths[mark.path].passed(mark, urgent_);
    });
    return announced_ && marks_.empty();
  }
  std::uint32_t echo() const { return echo_; }  // of the newest SENT_ONCE
  std::uint8_t path() const { return path_; }

 private:
  bool announced_ = false;
  std::vector<wire::PathMark> marks_;  // paths that packets may still come on
  std::uint32_t echo_ = 0;
  std::uint8_t path_ = 0;
  bool urgent_ = false;
};

}  // namespace dlcp::core
