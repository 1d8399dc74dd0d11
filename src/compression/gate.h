// Decides whether an association compresses at all. kAuto compresses while this saves more time, of
// the network or of the processor, than it costs (pay_off).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "compression/pay_off.h"
#include "util/time.h"

namespace dlcp::compression {

enum class Mode : std::uint8_t { kOff, kAuto, kOn };

struct Terms {
  Mode mode = Mode::kOff;
  // Shorter messages are not compressed. Latency limits them, and NCCL's LL protocols, whose flags
  // make codes for floating-point numbers useless, send no longer messages.
  std::size_t message_bytes_min = std::size_t{64} << 10;
  // For messages of direct exchange, which divides a call into equal blocks of usually 11 KiB and
  // more. They contain no flags.
  std::size_t direct_bytes_min = std::size_t{8} << 10;
  // Processor time in seconds per byte of a message: for sending without compression, and in
  // addition for compressing.
  double send_s_per_byte = 0.3e-9;
  double encode_s_per_byte = 0.12e-9;
};

class Gate {
 public:
  explicit Gate(const Terms& terms) : terms_(terms) {}

  // `is_direct`: for messages of direct exchange.
  std::size_t message_bytes_min(bool is_direct) const {
    const std::size_t any = terms_.message_bytes_min;
    return is_direct ? std::min(any, terms_.direct_bytes_min) : any;
  }
  bool open() const {
    return terms_.mode == Mode::kOn || (terms_.mode == Mode::kAuto && pay_off_.on());
  }
  // Packets without compression per packet with it, of a message that is compressed. Messages that
  // do not compress must not close the gate: they may belong to another stream, or precede others
  // that do, and a Coder samples few of them.
  void note_ratio(double ratio) { ratio_ = ratio; }
  // Called for each acknowledgement. Returns true if the decision changes.
  struct Ack {
    bool network_limited = false;  // the window limited the sender since the last one
    bool backlogged = false;       // there is data to send
    double wire_bytes_per_s = 0;   // send rate of the endpoint
    std::uint64_t delivered = 0;   // bytes on the wire by the endpoint so far
  };
  bool on_ack(Time now, const Ack& ack);

 private:
  static constexpr Duration kInterval = 2ms;
  static constexpr double kTypicalRatio = 1.3;  // of bf16 gradients
  // A closed gate assumes the typical ratio after this time, because no message is sampled that
  // would show a better one. If the gate opens and compressed messages gain little, it closes again
  // after three intervals, so that such attempts take less than 1% of the time.
  static constexpr Duration kRatioLife = 1s;

  Terms terms_;
  PayOff pay_off_;
  double ratio_ = kTypicalRatio;  // of the last message that was compressed
  Time open_at_;                  // the end of the last interval in which the gate was open
  bool limited_ = false;
  bool backlogged_ = true;     // at every acknowledgement of the interval
  std::optional<Time> began_;  // of the interval
  std::uint64_t delivered_before_ = 0;
};

}  // namespace dlcp::compression
