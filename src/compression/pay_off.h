// Decides whether compression of a connection's messages pays, from measurements over intervals:
// the link time that is saved, compared with the processor time that is spent. Has no clock.
#pragma once

#include <cstdint>

namespace dlcp::compression {

// Measurements of one interval.
struct Measured {
  bool network_limited = false;      // the window limited the sender, not the processor
  bool backlogged = false;           // there was always more data to send
  double wire_bytes_per_s = 0;       // that the network takes: the send rate
  double delivered_bytes_per_s = 0;  // on the wire, by all connections of the endpoint
  double send_s_per_byte = 0;        // least processor time per byte on the wire, without encoding
  double encode_s_per_byte = 0;      // processor time per byte of a message; an estimate while off
  double ratio = 1;                  // of messages to bytes on the wire: measured, or of a sample
};

// Time per byte of a message without compression, divided by the time with it; `on`: it was used in
// this interval. If the network is the limit, each is the larger of link time and processor time.
// Otherwise the processor is, of the sender or of the receiver, and a byte on the wire costs the
// time in which one is delivered.
double gain_of(const Measured& measured, bool on);

class PayOff {
 public:
  // Compression turns on when the gain reaches kGainOn, and off when it falls below kGainOff; both
  // only after kIntervals such intervals in a row. A gain in between changes nothing, so that noise
  // of less than 7% has no effect.
  static constexpr double kGainOn = 1.10;
  static constexpr double kGainOff = 1.03;
  static constexpr int kIntervals = 3;

  bool on() const { return on_; }
  // Returns true if this interval changed the decision.
  bool add(const Measured& measured);

 private:
  bool on_ = false;
  int contrary_ = 0;  // successive intervals for the other decision
};

}  // namespace dlcp::compression
