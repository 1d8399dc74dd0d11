// How many packets of a sending connection may be in flight: what congestion control allows, and
// no more than the receiver can take. Also counts what is in flight.
//
// The receiver grants what its buffers hold (credit_pool): as much may pile up unread while its
// process does not run. A long path holds far more than that, and none of it is in a buffer. What
// the receiver has read within a round trip is therefore granted anew, twofold, so that the window
// can grow with the path; but while packets wait long to be read, only once. Round trips that the
// buffers cover by themselves add nothing: there the credit is exact, which incast needs. Nor do
// those of a path on which the handshake was quick: what packets take there beyond that they wait
// in a queue, and hundreds of senders would each take it for a long path.
//
// A grant below the reserve means that others have their turn (turns). Whoever is near heeds it and
// loses nothing, as he hears at once when it is his; who is far away uses his reserve.
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

  // STARTED: the part that the receiver keeps for this connection for ever. `took`: the handshake.
  void open(std::uint32_t packets, std::uint16_t epoch, Duration took) {
    reserve_ = credit_ = std::max<std::uint32_t>(packets, 1);
    epoch_ = epoch;
    near_ = took < kQuick;
  }
  // The window of an ACK that no younger one has overtaken.
  void on_credit(std::uint32_t packets, std::uint16_t epoch);
  // Sending begins after a pause or goes on: after kWindowLease without anything in flight the
  // receiver may have given all but the reserve to others.
  void on_burst(Time now);
  void on_sent(Time now) {
    starved_ = false;
    ++in_flight_;
    last_sent_ = now;
  }
  // Whether the packet about to be sent, behind which others wait, asks for an acknowledgement at
  // once. (One with nothing behind it does not: an ACK would stand in the way of the peer's
  // answer.) While congestion control holds the sender back, one packet of every half of the window
  // does, if the last such is kAskEvery ago, or half of a shorter round trip: a small window must
  // not wait for as many packets as make an acknowledgement cheap, and a fast one must not be
  // acknowledged packet by packet. So does the one that fills the window, after a quarter without:
  // the receiver would acknowledge as many anyway, unless some of them are lost.
  bool asks_ack(Time now, double congestion_window);
  // Acknowledged, or declared lost.
  void on_settled(std::uint32_t packets) {
    check(packets <= in_flight_, "only packets in flight are settled");
    in_flight_ -= packets;
  }

  // An ACK: `packets` were read since the last one. `fabric` is a sample of the time that packets
  // and their acknowledgements spend between the hosts, `waited` the time the newest one waited at
  // the receiver; zero `fabric`: no sample.
  void on_delivered(Time now, std::uint32_t packets, Duration fabric, Duration waited);

  // Packets that may be in flight; below 1 only pacing holds the sender back.
  double limit(double congestion_window) const {
    const std::uint32_t kept = fabric_least_ < kQuick ? 0 : reserve_;
    return std::min(congestion_window, static_cast<double>(std::max({credit_, reach_, kept})));
  }
  // The same for the window's gate: one packet may always be in flight.
  double most(double congestion_window) const { return std::max(1.0, limit(congestion_window)); }
  std::uint32_t in_flight() const { return in_flight_; }
  std::uint16_t epoch() const { return epoch_; }

  // The sender is stopped, in a message of so many full packets. Whether congestion control stopped
  // it since the last ACK is asked and forgotten with each: what the receiver's credit held back
  // says nothing about the network.
  void note_stopped(double congestion_window, std::size_t message_packets) {
    limited_ = limited_ || in_flight_ >= congestion_window;
    starved_ = message_packets >= reserve_ && credit_ <= reserve_ && in_flight_ < congestion_window;
  }
  bool take_limited() { return std::exchange(limited_, false); }
  // It waits a round trip, as the message is more than the receiver keeps for this connection, and
  // he has granted no more.
  bool starved() const { return starved_ && in_flight_ > 0; }

 private:
  std::uint32_t in_flight_ = 0;
  std::uint32_t unasked_ = 0;  // packets since one that asked
  Time asked_at_{};
  std::uint32_t credit_ = 1;   // packets, as last granted
  std::uint32_t reserve_ = 1;  // what remains of it after a pause
  std::uint16_t epoch_ = 0;
  std::uint32_t reach_ = 0;  // packets that the path holds besides what the buffers do
  bool near_ = false;
  bool limited_ = false;
  bool starved_ = false;
  RttEstimator fabric_;
  Duration fabric_least_ = Duration::max();
  Duration waited_{0};  // smallest of this round
  Time round_ends_{};
  std::array<std::uint32_t, 4> delivered_{};  // packets, in this round and the ones before
  Time last_sent_{};
};

}  // namespace dlcp::core
