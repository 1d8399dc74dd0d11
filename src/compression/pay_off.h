// Decides whether compressing a connection's messages pays, from what was measured over intervals:
// the link's time that is saved against the processor's time that is spent. Pure: it has no clock.
#pragma once

#include <cstdint>

namespace dlcp::compression {

// Of one interval, in which the connection had data to send all the time.
struct Measured {
  bool network_limited = false;  // the window or the pacer held the sender back, not the processor
  double wire_bytes_per_s = 0;   // delivered
  double send_s_per_byte = 0;    // processor time per byte on the wire, without encoding
  double encode_s_per_byte = 0;  // processor time per byte of a message; an estimate while off
  double ratio = 1;              // of messages to bytes on the wire: measured, or of a sample
};

// Time per byte of a message without compression, divided by that with it. Each is the larger of
// the link's time and the processor's.
double gain_of(const Measured& measured);

class PayOff {
 public:
  // Turned on when the gain reaches kGainOn, off when it falls below kGainOff; both only after
  // kIntervals intervals in a row that say so. A gain between the two changes nothing, so that
  // noise of less than 7% does not turn it on and off.
  static constexpr double kGainOn = 1.10;
  static constexpr double kGainOff = 1.03;
  static constexpr int kIntervals = 3;

  bool on() const { return on_; }
  // Returns true if this interval changed the decision.
  bool add(const Measured& measured);

 private:
  bool on_ = false;
  int contrary_ = 0;  // intervals in a row for the other decision
};

}  // namespace dlcp::compression
