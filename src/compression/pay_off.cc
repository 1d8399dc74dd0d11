#include "compression/pay_off.h"

#include <algorithm>

namespace dlcp::compression {

double gain_of(const Measured& measured) {
  if (measured.wire_bytes_per_s <= 0 || measured.ratio <= 1) return 1;
  const double link = 1 / measured.wire_bytes_per_s;
  const double plain = std::max(link, measured.send_s_per_byte);
  const double processor = measured.send_s_per_byte / measured.ratio + measured.encode_s_per_byte;
  return plain / std::max(link / measured.ratio, processor);
}

bool PayOff::add(const Measured& measured) {
  const double gain = gain_of(measured);
  // With compression on, a sender may be limited by its processor and still be faster than without.
  const bool contrary = on_ ? gain < kGainOff : measured.network_limited && gain >= kGainOn;
  contrary_ = contrary ? contrary_ + 1 : 0;
  if (contrary_ < kIntervals) return false;
  contrary_ = 0;
  on_ = !on_;
  return true;
}

}  // namespace dlcp::compression
