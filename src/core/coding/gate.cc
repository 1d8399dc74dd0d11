#include "core/coding/gate.h"

namespace dlcp::core {

bool CompressionGate::on_ack(Time now, bool network_limited, double wire_bytes_per_s) {
  if (terms_.mode != CompressionMode::kAuto) return false;
  limited_ = limited_ || network_limited;
  if (now < next_) return false;
  next_ = now + kInterval;
  const compression::Measured measured{.network_limited = limited_,
                                       .wire_bytes_per_s = wire_bytes_per_s,
                                       .send_s_per_byte = terms_.send_s_per_byte,
                                       .encode_s_per_byte = terms_.encode_s_per_byte,
                                       .ratio = ratio_};
  limited_ = false;
  return pay_off_.add(measured);
}

}  // namespace dlcp::core
