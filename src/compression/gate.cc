#include "compression/gate.h"

#include <utility>

namespace dlcp::compression {

bool Gate::on_ack(Time now, const Ack& ack) {
  if (terms_.mode != Mode::kAuto) return false;
  limited_ = limited_ || ack.network_limited;
  backlogged_ = backlogged_ && ack.backlogged;
  if (began_ && now - *began_ < kInterval) return false;
  const auto began = std::exchange(began_, now);
  const std::uint64_t before = std::exchange(delivered_before_, ack.delivered);
  const bool limited = std::exchange(limited_, false);
  const bool backlogged = std::exchange(backlogged_, true);
  if (!began) return false;
  if (open())
    open_at_ = now;
  else if (now - open_at_ >= kRatioLife)
    ratio_ = kTypicalRatio;
  const double seconds = std::chrono::duration<double>(now - *began).count();
  const auto delivered = static_cast<double>(ack.delivered - before);
  const Measured measured{.network_limited = limited,
                          .backlogged = backlogged,
                          .wire_bytes_per_s = ack.wire_bytes_per_s,
                          .delivered_bytes_per_s = delivered / seconds,
                          .send_s_per_byte = terms_.send_s_per_byte,
                          .encode_s_per_byte = terms_.encode_s_per_byte,
                          .ratio = ratio_};
  return pay_off_.add(measured);
}

}  // namespace dlcp::compression
