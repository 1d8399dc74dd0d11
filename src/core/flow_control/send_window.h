// Number of packets that a sending association may have in flight: the congestion window, limited
// by what the receiver can take. Also counts the packets in flight.
//
// The receiver grants what its buffers hold (credit_pool), because that amount may remain unread
// while its process does not run. A long path holds far more than that, and not in a buffer.
// Therefore twice what the receiver has read within an RTT is granted in addition. RTTs that the
// buffers cover, and paths with a quick handshake, add nothing: there a long delay is a queue,
// which each of hundreds of senders would mistake for a long path.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/loss_detection/rtt.h"
#include "util/check.h"
#include "util/time.h"

namespace dlcp::core {

class SendWindow {
 public:
  static constexpr Duration kAskEvery = std::chrono::microseconds(40);
  static constexpr Duration kQuick = std::chrono::microseconds(25);

  // STARTED: `packets` is the reserve of this association. `took`: duration of the handshake.
  void open(std::uint32_t packets, std::uint16_t epoch, Duration took) {
    reserve_ = credit_ = std::max<std::uint32_t>(packets, 1);
    epoch_ = epoch;
    quick_ = took < kQuick;
  }
  // WELCOME names the reserve again, because STARTED may be lost. 0: no stream was left there.
  void on_reserve(std::uint32_t packets) {
    if (packets > 0) reserve_ = packets;
  }
  // The window of an ACK that no newer ACK has overtaken.
  void on_credit(std::uint32_t packets, std::uint16_t epoch);
  // Sending begins or continues. After kWindowLease with nothing in flight, the receiver may have
  // given all but the reserve to others.
  void on_burst(Time now);
  void on_sent(Time now, std::size_t packets = 1) {
    starved_ = false;
    in_flight_ += static_cast<std::uint32_t>(packets);
    last_sent_ = now;
  }
  // Terms that stay the same while packets are sent together.
  struct AskTerms {
    double most = 0;        // packets that may be in flight
    bool rested = false;    // the last request is long enough ago
    bool unneeded = false;  // the sender does not wait for an ACK of these packets
  };
  AskTerms ask_terms(Time now, double congestion_window) const;
  // Whether the packet about to be sent, which others follow, requests an immediate ACK. (A last
  // packet does not: an ACK would delay the peer's answer.) While congestion control limits the
  // sender, one packet per half window requests one, if the last request was kAskEvery ago, or half
  // of a shorter RTT. A small window must not wait for as many packets as make an ACK cheap, and a
  // fast one must not be acknowledged packet by packet. The packet that fills the window also
  // requests one, if none of the last quarter has: the receiver would acknowledge that many anyway,
  // unless some are lost.
  bool asks_ack(Time now, double congestion_window) {
    AskTerms terms = ask_terms(now, congestion_window);
    return next_asking(now, terms, 0, 1) == 0;
  }
  // The same for packets that are sent together, before on_sent() counts them: the number of the
  // first one from packet `from` on that requests an ACK; `end` if none below does. The next call
  // continues behind it.
  std::size_t next_asking(Time now, AskTerms& terms, std::size_t from, std::size_t end);
  // Acknowledged, or counted as lost.
  void on_settled(std::uint32_t packets) {
    check(packets <= in_flight_, "only packets in flight are settled");
    in_flight_ -= packets;
  }

  // An ACK reports that `packets` were read since the last one. `fabric` is a sample of the time
  // that packets and their ACKs spend in the network (zero: no sample).
  void on_delivered(Time now, std::uint32_t packets, Duration fabric);
  Time delivered_at() const { return delivered_at_; }

  // Packets that may be in flight; below 1 only pacing limits the sender.
  double limit(double congestion_window) const {
    const std::uint32_t kept = fabric_least_ < kQuick ? 0 : reserve_;
    return std::min(congestion_window, static_cast<double>(std::max({credit_, reach_, kept})));
  }
  // The same for admission: one packet may always be in flight.
  double most(double congestion_window) const { return std::max(1.0, limit(congestion_window)); }
  std::uint32_t in_flight() const { return in_flight_; }
  std::uint16_t epoch() const { return epoch_; }

  // The window stops the sender, in a message of `message_packets` full packets. take_limited()
  // tells whether congestion control did so since the last ACK: credit that limits the sender tells
  // nothing about the network.
  void note_stopped(double congestion_window, std::size_t message_packets) {
    limited_ = limited_ || in_flight_ >= congestion_window;
    starved_ = message_packets >= reserve_ && credit_ <= reserve_ && in_flight_ < congestion_window;
  }
  bool take_limited() { return std::exchange(limited_, false); }
  // The sender waits an RTT for credit: the message exceeds the reserve, and the receiver has not
  // granted more.
  bool starved() const { return starved_ && in_flight_ > 0; }

 private:
  std::uint32_t in_flight_ = 0;
  std::uint32_t unasked_ = 0;  // packets since the last one that requested an ACK
  Time asked_at_{};
  std::uint32_t credit_ = 1;   // packets, as last granted
  std::uint32_t reserve_ = 1;  // packets that remain granted after a pause
  std::uint16_t epoch_ = 0;
  std::uint32_t reach_ = 0;  // packets that the path holds in addition to the buffers
  bool quick_ = false, limited_ = false;
  bool starved_ = false;
  RttEstimator fabric_;
  Duration fabric_least_ = Duration::max();
  Time round_ends_{};
  std::array<std::uint32_t, 4> delivered_{};  // packets, in this round and the rounds before
  Time last_sent_{}, delivered_at_{};
};

}  // namespace dlcp::core
