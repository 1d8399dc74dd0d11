#include "collective/switchml/worker/switch_scale.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "collective/switchml/switch_packet.h"

namespace dlcp::collective {

std::optional<std::int8_t> switch_exponent(std::span<const float> block) {
  std::uint32_t largest = 0;  // magnitudes compare like their bits
  for (const float x : block)
    largest = std::max(largest, std::bit_cast<std::uint32_t>(x) & 0x7fffffffu);
  const int exponent = static_cast<int>(largest >> 23) + kSwitchExponentMin;
  if (exponent > kSwitchExponentMax) return std::nullopt;
  return static_cast<std::int8_t>(exponent);
}

SwitchScale::SwitchScale(unsigned workers, int exponent)
    : factor_(std::ldexp(static_cast<double>(INT32_MAX) / workers, -exponent)),
      inverse_(std::ldexp(static_cast<double>(workers) / INT32_MAX, exponent)) {}

std::int32_t SwitchScale::integer_of(float x) const {
  const double scaled = static_cast<double>(x) * factor_;
  return static_cast<std::int32_t>(scaled + (scaled < 0 ? -0.5 : 0.5));
}

float SwitchScale::float_of(std::int32_t sum) const {
  const double value = static_cast<double>(sum) * inverse_;
  constexpr double kLargest = std::numeric_limits<float>::max();
  if (std::abs(value) > kLargest)
    return std::copysign(std::numeric_limits<float>::infinity(), value < 0 ? -1.0f : 1.0f);
  return static_cast<float>(value);
}

}  // namespace dlcp::collective
