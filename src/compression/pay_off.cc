#include "compression/pay_off.h"

#include <algorithm>

namespace dlcp::compression {

double gain_of(const Measured& measured, bool on) {
  if (measured.ratio <= 1) return 1;
  if (!measured.network_limited) {
    if (measured.delivered_bytes_per_s <= 0) return 1;
    const double encoding = on ? measured.encode_s_per_byte * measured.ratio : 0;
    const double cost =
        std::max(measured.send_s_per_byte, 1 / measured.delivered_bytes_per_s - encoding);
    return cost / (cost / measured.ratio + measured.encode_s_per_byte);
  }
  if (measured.wire_bytes_per_s <= 0) return 1;
  const double link = 1 / measured.wire_bytes_per_s;
  const double plain = std::max(link, measured.send_s_per_byte);
  const double processor = measured.send_s_per_byte / measured.ratio + measured.encode_s_per_byte;
  return plain / std::max(link / measured.ratio, processor);
}

bool PayOff::add(const Measured& measured) {
  const bool telling = measured.network_limited || measured.backlogged;
  const double gain = gain_of(measured, on_);
  const bool contrary = telling && (on_ ? gain < kGainOff : gain >= kGainOn);
  contrary_ = contrary ? contrary_ + 1 : 0;
  if (contrary_ < kIntervals) return false;
  contrary_ = 0;
  on_ = !on_;
  return true;
}

}  // namespace dlcp::compression
