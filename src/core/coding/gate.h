// Whether an association compresses at all. With kAuto it does where the network is slower than the
// processor could compress; src/compression/pay_off weighs the two.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compression/pay_off.h"
#include "util/time.h"

namespace dlcp::core {

enum class CompressionMode : std::uint8_t { kOff, kAuto, kOn };

struct CompressionTerms {
  CompressionMode mode = CompressionMode::kOff;
  // Shorter messages are not compressed: they are bound by latency, and NCCL's LL protocols, whose
  // flags make codes for floating-point numbers useless, send no longer ones.
  std::size_t message_bytes_min = std::size_t{64} << 10;
  // Processor time per byte of a message: what sending takes without compression, and what
  // compressing adds.
  double send_s_per_byte = 0.3e-9;
  double encode_s_per_byte = 0.12e-9;
};

class CompressionGate {
 public:
  explicit CompressionGate(const CompressionTerms& terms) : terms_(terms) {}

  std::size_t message_bytes_min() const { return terms_.message_bytes_min; }
  bool open() const {
    return terms_.mode == CompressionMode::kOn ||
           (terms_.mode == CompressionMode::kAuto && pay_off_.on());
  }
  // Of the last message that was looked at: its packets without compression, for one with it.
  void note_ratio(double ratio) { ratio_ = ratio; }
  // With each acknowledgement. `network_limited`: the window held the sender back.
  // `wire_bytes_per_s`: of the whole endpoint. Returns true when the decision changes.
  bool on_ack(Time now, bool network_limited, double wire_bytes_per_s);

 private:
  static constexpr Duration kInterval = 2ms;

  CompressionTerms terms_;
  compression::PayOff pay_off_;
  double ratio_ = 1.3;  // of bf16 gradients, until a message has been looked at
  bool limited_ = false;
  Time next_{};
};

}  // namespace dlcp::core
