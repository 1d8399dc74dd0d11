#include "core/flow_control/ack_clock.h"

#include <utility>

namespace dlcp::core {
namespace {

// An ACK waits so long for company: more data, or a posted receive. After a short message it goes
// in the gap before the answer's answer; after a long one it lets the application's own answer go
// first.
constexpr Duration kDelay = 50us;
constexpr Duration kDelayShort = 5us;
// One that goes so late had nobody to send it, and a sender waited for that long; an ACK too many
// costs two microseconds.
constexpr Duration kLate = 100us;
constexpr int kComesBack = 16;
// While packets come fast enough that an ACK still tells of many, the middle of a long message
// makes do with fewer.
constexpr Duration kDelayFast = 150us;
constexpr std::uint32_t kFastPackets = 12;  // of the last ACK
constexpr std::uint32_t kLongMessageBytes = 16384;
constexpr std::uint32_t kEveryPackets = 64;

}  // namespace

void AckClock::on_data(Time now, const Arrival& arrival) {
  ++packets_;
  const std::uint32_t every = std::clamp<std::uint32_t>(arrival.window / 4, 1, kEveryPackets);
  const bool is_long = arrival.message_bytes >= kLongMessageBytes;
  // After the last receive posted the application may stop calling, and a sender would wait until
  // somebody notices: unless it is one that takes turns with its peer.
  const bool may_leave = arrival.nothing_posted && (is_long || returns_ < kComesBack);
  if (arrival.nothing_posted && arrival.ends_message) last_ended_ = now;
  if (packets_ >= every || arrival.asked || may_leave) {
    at_once(now);
    return;
  }
  const bool fast = packets_of_last_ >= kFastPackets;
  const Duration at_end = is_long ? kDelay : kDelayShort;
  by(now + (arrival.ends_message ? at_end : fast ? kDelayFast : kDelay));
}

void AckClock::on_posted(Time now) {
  if (last_ended_ != kNever)
    returns_ = now <= last_ended_ + kDelay ? std::min(returns_ + 1, kComesBack) : 0;
  last_ended_ = kNever;
  by(now + kDelay);
}

void AckClock::on_sent(Time now, bool complete) {
  if (now > due_ + kLate) returns_ = 0;
  due_ = complete ? kNever : now;
  packets_of_last_ = std::exchange(packets_, 0);
}

}  // namespace dlcp::core
