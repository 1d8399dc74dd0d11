// Scores a packet by the mean of |g| over its elements. It reads the payload once, while the packet
// is made. magnitude_quantile decides which means are small enough to lose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace dlcp::gradient {

enum class ElementType : std::uint8_t {
  kOther,  // integers, doubles, unknown types: never scored, always protected
  kFloat32,
  kFloat16,   // IEEE 754 binary16
  kBfloat16,  // the upper half of a float32
};

constexpr std::size_t element_bytes(ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
      return 4;
    case ElementType::kFloat16:
    case ElementType::kBfloat16:
      return 2;
    case ElementType::kOther:
      break;
  }
  return 0;
}

// Larger than any threshold: the packet is protected.
inline constexpr float kPriceless = std::numeric_limits<float>::infinity();

// Mean of |g| over the elements of `payload`. kPriceless if there is a NaN or an infinity among
// them (which must reach the job), if the type is kOther, if the payload is empty or not a whole
// number of elements, and if the sum overflows a float. No alignment is needed.
float mean_magnitude(ElementType type, std::span<const std::byte> payload);

// All implementations, for tests and measurements. `supported` depends on the processor.
struct MagnitudeForm {
  const char* name;
  float (*mean)(ElementType type, std::span<const std::byte> payload);
  bool supported;
};
std::span<const MagnitudeForm> magnitude_forms();

}  // namespace dlcp::gradient
