#include "core/coding/gate.h"

namespace dlcp::core {

bool CompressionGate::on_ack(Time now, const Ack& ack) {
  if (terms_.mode != CompressionMode::kAuto) return false;
  limited_ = limited_ || ack.network_limited;
  backlogged_ = backlogged_ && ack.backlogged;
  const bool first = began_ == Time::min();
  if (!first && now - began_ < kInterval) return false;
  if (first) {
    began_ = now;
    delivered_before_ = ack.delivered;
    return false;
  }
  const double seconds = std::chrono::duration<double>(now - began_).count();
  const auto delivered = static_cast<double>(ack.delivered - delivered_before_);
  const compression::Measured measured{.network_limited = limited_,
                                       .backlogged = backlogged_,
                                       .wire_bytes_per_s = ack.wire_bytes_per_s,
                                       .delivered_bytes_per_s = delivered / seconds,
                                       .send_s_per_byte = terms_.send_s_per_byte,
                                       .encode_s_per_byte = terms_.encode_s_per_byte,
                                       .ratio = ratio_};
  limited_ = false;
  backlogged_ = true;
  began_ = now;
  delivered_before_ = ack.delivered;
  return pay_off_.add(measured);
}

}  // namespace dlcp::core
