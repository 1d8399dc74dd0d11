// Converts floats to integers that a switch can add: x becomes round(x s) with s = (2^31 - 1) / (N
// 2^e), where e is the largest exponent of any of the N workers in the block, so that no sum
// overflows. The error of a sum is at most N / (2 s) plus one rounding to float.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace dlcp::collective {

// The smallest e of SwitchML's range with |x| < 2^e for all values; nullopt if a value is infinite,
// NaN, or 2^127 or above.
std::optional<std::int8_t> switch_exponent(std::span<const float> block);

class SwitchScale {
 public:
  SwitchScale(unsigned workers, int exponent);

  // The caller ensures that the magnitude of x is below 2^e.
  std::int32_t integer_of(float x) const;
  // Infinite if the sum exceeds the range of float, like a sum of floats.
  float float_of(std::int32_t sum) const;

 private:
  double factor_;
  double inverse_;
};

}  // namespace dlcp::collective
