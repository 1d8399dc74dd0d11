// Floats as the integers that a switch can add: x becomes round(x s) with s = (2^31 - 1) / (N 2^e),
// where e is the largest exponent that any of N workers has in the block, so that no sum overflows.
// A sum is wrong by N / (2 s) at most, and by the one rounding to a float.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace dlcp::collective {

// The least e of SwitchML's range with |x| < 2^e for all; nullopt where a value is infinite, NaN,
// or 2^127 and above.
std::optional<std::int8_t> switch_exponent(std::span<const float> block);

class SwitchScale {
 public:
  SwitchScale(unsigned workers, int exponent);

  // x below 2^e in magnitude, which the caller has seen to.
  std::int32_t integer_of(float x) const;
  // Infinite where the sum is no float, as a sum of floats would be.
  float float_of(std::int32_t sum) const;

 private:
  double factor_;
  double inverse_;
};

}  // namespace dlcp::collective
