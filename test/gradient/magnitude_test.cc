// The score compared with a plain double-precision mean, for every implementation and type, and
// packets that have no score.
#include "gradient/magnitude.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "catch.h"
#include "util/rng.h"

using namespace dlcp;
using gradient::ElementType;
using gradient::kPriceless;

namespace {

constexpr ElementType kTypes[] = {ElementType::kFloat32, ElementType::kFloat16,
                                  ElementType::kBfloat16};

// A finite value of the type: its bits, in the low end, and its absolute value.
struct Element {
  std::uint32_t bits = 0;
  double value = 0;
};

double value_of_half(std::uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 0x1f);
  const double fraction = (bits & 0x3ff) / 1024.0;
  const double size =
      exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
  return (bits & 0x8000) != 0 ? -size : size;
}

Element draw(ElementType type, Rng& rng) {
  if (type == ElementType::kFloat16) {
    std::uint32_t bits = 0;
    do
      bits = static_cast<std::uint32_t>(rng.below(0x10000));
    while ((bits & 0x7c00) == 0x7c00);
    return {bits, value_of_half(bits)};
  }
  const auto value = static_cast<float>((rng.unit() - 0.5) *
                                        std::ldexp(1.0, static_cast<int>(rng.below(40)) - 20));
  std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if (type == ElementType::kFloat32) return {bits, value};
  bits &= 0xffff'0000;
  return {bits >> 16, std::bit_cast<float>(bits)};
}

void append(std::vector<std::byte>& payload, ElementType type, std::uint32_t bits) {
  const std::size_t at = payload.size();
  payload.resize(at + gradient::element_bytes(type));
  std::memcpy(payload.data() + at, &bits,
              gradient::element_bytes(type));  // little-endian hosts only
}

std::uint32_t infinity_of(ElementType type) {
  switch (type) {
    case ElementType::kFloat16:
      return 0x7c00;
    case ElementType::kBfloat16:
      return 0x7f80;
    default:
      return 0x7f80'0000;
  }
}

}  // namespace

TEST_CASE("every implementation's score is the mean of the absolute values", "[magnitude]") {
  Rng rng(7);
  for (const auto& form : gradient::magnitude_forms()) {
    if (!form.supported) continue;
    for (const ElementType type : kTypes) {
      for (const std::size_t count : {1, 2, 7, 8, 15, 16, 17, 63, 64, 65, 130, 352, 1024, 2208}) {
        std::vector<std::byte> payload;
        double sum = 0;
        for (std::size_t i = 0; i < count; ++i) {
          const Element element = draw(type, rng);
          append(payload, type, element.bits);
          sum += std::abs(element.value);
        }
        INFO(form.name << ", type " << static_cast<int>(type) << ", " << count << " elements");
        CHECK(form.mean(type, payload) == Approx(sum / static_cast<double>(count)).epsilon(1e-5));
      }
    }
  }
}

TEST_CASE("every half-precision value is scored correctly, subnormals included", "[magnitude]") {
  for (const auto& form : gradient::magnitude_forms()) {
    if (!form.supported) continue;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      std::vector<std::byte> payload;  // sixteen, so that the vector code runs too
      for (int i = 0; i < 16; ++i)
        append(payload, ElementType::kFloat16, bits);
      const float score = form.mean(ElementType::kFloat16, payload);
      const bool finite = (bits & 0x7c00) != 0x7c00;
      if (score == (finite ? static_cast<float>(std::abs(value_of_half(bits))) : kPriceless))
        continue;
      FAIL(form.name << ": half " << bits << " is scored " << score);
    }
  }
}

TEST_CASE("one NaN or infinity anywhere makes a packet priceless", "[magnitude]") {
  for (const auto& form : gradient::magnitude_forms()) {
    if (!form.supported) continue;
    for (const ElementType type : kTypes) {
      for (const std::uint32_t special : {infinity_of(type), infinity_of(type) + 1}) {
        for (std::size_t at = 0; at < 150; ++at) {
          std::vector<std::byte> payload;
          for (std::size_t i = 0; i < 150; ++i)
            append(payload, type, i == at ? special : 0);
          INFO(form.name << ", type " << static_cast<int>(type) << ", at " << at);
          REQUIRE(form.mean(type, payload) == kPriceless);
        }
      }
    }
  }
}

TEST_CASE("a packet that cannot be scored is priceless", "[magnitude]") {
  const std::vector<std::byte> zeros(4098);
  CHECK(gradient::mean_magnitude(ElementType::kOther, zeros) == kPriceless);
  CHECK(gradient::mean_magnitude(ElementType::kFloat32, {}) == kPriceless);
  CHECK(gradient::mean_magnitude(ElementType::kFloat32, zeros) == kPriceless);  // half an element
  CHECK(gradient::mean_magnitude(ElementType::kFloat16, zeros) == 0);
  std::vector<std::byte> huge;  // finite, but their sum is not
  for (int i = 0; i < 1024; ++i)
    append(huge, ElementType::kFloat32, std::bit_cast<std::uint32_t>(3e38f));
  CHECK(gradient::mean_magnitude(ElementType::kFloat32, huge) == kPriceless);
}

TEST_CASE("payloads may lie at any address, and nothing beyond them counts", "[magnitude]") {
  std::vector<std::byte> memory(4096 + 64, std::byte{0xff});  // NaN everywhere
  for (std::size_t at = 0; at < 33; ++at) {
    for (std::size_t i = 0; i < 352; ++i) {
      const float one = -1;
      std::memcpy(memory.data() + at + 4 * i, &one, sizeof one);
    }
    for (const auto& form : gradient::magnitude_forms()) {
      if (!form.supported) continue;
      REQUIRE(form.mean(ElementType::kFloat32, std::span(memory).subspan(at, 4 * 352)) == 1);
    }
    std::fill(memory.begin(), memory.end(), std::byte{0xff});
  }
}
