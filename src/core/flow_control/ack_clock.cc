#include "core/flow_control/ack_clock.h"

#include <utility>

#include "core/config.h"

namespace dlcp::core {
namespace {

// How long an ACK is delayed, so that it can also report more data or a posted receive. At the end
// of a long message it follows the application's own answer, if that comes earlier (on_answer()).
constexpr Duration kDelay = 50us;
// Senders wait for ACKs of smaller messages. NCCL has eight in flight, which take a fast network
// less time than kDelay.
constexpr std::uint32_t kMediumBytes = 16384;
constexpr Duration kDelayMedium = 5us;
// If packets arrive so fast that an ACK reports many, the middle of a message needs fewer ACKs.
constexpr Duration kDelayFast = 150us;
constexpr std::uint32_t kFastPackets = 12;  // reported by the last ACK
constexpr std::uint32_t kEveryPackets = 64;
// No caller waits for ACKs of short messages that were copied, and many may be sent before a
// receive is posted: reports of receives can wait for the ACK of the next data.
constexpr Duration kDelayWithOthers = 1ms;

}  // namespace

void AckClock::on_data(Time now, const Arrival& arrival) {
  packets_ += arrival.packets;
  short_ = arrival.copied && arrival.message_bytes <= kShortMessageBytes;
  ended_ = arrival.ends_message && !short_;  // and nothing has followed
  const std::uint32_t every = std::clamp<std::uint32_t>(arrival.window / 4, 1, kEveryPackets);
  // When no receive is posted, the application may stop calling, and the sender would wait for the
  // ACK until the helper thread sends it.
  const bool may_leave = arrival.nothing_posted && !short_;
  if (packets_ >= every || arrival.asked || may_leave) return at_once(now);
  const bool fast = packets_of_last_ >= kFastPackets;
  const bool is_medium = !short_ && arrival.message_bytes < kMediumBytes;
  const Duration at_end = is_medium ? kDelayMedium : kDelay;
  by(now + (arrival.ends_message ? at_end : fast ? kDelayFast : kDelay));
}

void AckClock::on_report(Time now, AckBy when) {
  if (when == AckBy::kNow) return at_once(now);
  by(now + (when == AckBy::kWithOthers && short_ ? kDelayWithOthers : kDelay));
}

void AckClock::on_sent(Time now, bool complete) {
  due_ = complete ? kNever : now;
  hurries_ = !complete;
  ended_ = false;
  packets_of_last_ = std::exchange(packets_, 0);
}

}  // namespace dlcp::core
