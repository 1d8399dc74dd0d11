#include "core/flow_control/ack_clock.h"

#include <utility>

namespace dlcp::core {
namespace {

// How long an ACK is delayed, so that it can also report more data or a posted receive. At the end
// of a message it follows the application's own answer, if that comes earlier (on_answer()).
constexpr Duration kDelay = 50us;
constexpr Duration kDelayShort = 5us;
// An ACK later than this was not sent in time, because no call of the application came, and the
// sender waited for it. A superfluous ACK costs two microseconds.
constexpr Duration kLate = 100us;
constexpr int kComesBack = 16;
// If packets arrive so fast that an ACK reports many, the middle of a long message needs fewer
// ACKs.
constexpr Duration kDelayFast = 150us;
constexpr std::uint32_t kFastPackets = 12;  // reported by the last ACK
constexpr std::uint32_t kLongMessageBytes = 16384;
constexpr std::uint32_t kEveryPackets = 64;

}  // namespace

void AckClock::on_data(Time now, const Arrival& arrival) {
  packets_ += arrival.packets;
  const std::uint32_t every = std::clamp<std::uint32_t>(arrival.window / 4, 1, kEveryPackets);
  const bool is_long = arrival.message_bytes >= kLongMessageBytes;
  // When no receive is posted, the application may stop calling, and the sender would wait for the
  // ACK until the helper thread sends it. The ACK is therefore sent at once, unless the message is
  // short and the application usually posts the next receive soon.
  ended_ = arrival.ends_message && is_long;  // and nothing has followed
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
  hurries_ = !complete;
  ended_ = false;
  packets_of_last_ = std::exchange(packets_, 0);
}

}  // namespace dlcp::core
