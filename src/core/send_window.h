// How many packets of a sending connection may be in flight: what congestion control allows, and
// no more than the receiver has room for (credit_pool). Also counts what is in flight.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "util/time.h"

namespace dlcp::core {

class SendWindow {
 public:
  // STARTED: the part that the receiver keeps for this connection for ever.
  void open(std::uint32_t packets, std::uint8_t epoch) {
    reserve_ = credit_ = std::max<std::uint32_t>(packets, 1);
    epoch_ = epoch;
  }
  // An ACK's window. One of an older epoch has been overtaken and changes nothing.
  void on_credit(std::uint32_t packets, std::uint8_t epoch);
  // Sending begins after a pause or goes on: after kWindowLease without anything in flight the
  // receiver may have given all but the reserve to others.
  void on_burst(Time now);
  void on_sent(Time now) {
    ++in_flight_;
    last_sent_ = now;
  }
  // Acknowledged, or declared lost.
  void on_settled(std::uint32_t packets) { in_flight_ -= std::min(in_flight_, packets); }

  // Packets that may be in flight; below 1 only pacing holds the sender back.
  double limit(double congestion_window) const {
    return std::min(congestion_window, static_cast<double>(credit_));
  }
  // The same for the window's gate: one packet may always be in flight.
  double most(double congestion_window) const { return std::max(1.0, limit(congestion_window)); }
  std::uint32_t in_flight() const { return in_flight_; }
  std::uint8_t epoch() const { return epoch_; }

  // The limit stopped the sender; asked and forgotten with each ACK.
  void note_limited() { limited_ = true; }
  bool take_limited() { return std::exchange(limited_, false); }

 private:
  std::uint32_t in_flight_ = 0;
  std::uint32_t credit_ = 1;   // packets, as last granted
  std::uint32_t reserve_ = 1;  // what remains of it after a pause
  std::uint8_t epoch_ = 0;
  bool limited_ = false;
  Time last_sent_{};
};

}  // namespace dlcp::core
