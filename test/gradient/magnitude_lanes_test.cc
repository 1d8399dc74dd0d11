// The arithmetic of the GPU kernel, run on the processor, compared bit for bit with the portable
// form of mean_magnitude().
#include "gradient/magnitude_lanes.h"

#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "catch.h"
#include "util/rng.h"

using namespace dlcp;
using gradient::CutMessage;
using gradient::ElementType;

namespace {

enum class Values { kAnyBits, kFinite, kSubnormal, kOneSpecial };

// The bits of one element.
std::uint32_t draw(ElementType type, Values values, Rng& rng) {
  const int exponent_at = type == ElementType::kFloat32   ? 23
                          : type == ElementType::kFloat16 ? 10
                                                          : 7;
  const int bits = type == ElementType::kFloat32 ? 32 : 16;
  const auto any = static_cast<std::uint32_t>(rng.below(std::uint64_t{1} << bits));
  const std::uint32_t exponent = ((1u << (bits - 1)) - 1) >> exponent_at << exponent_at;
  switch (values) {
    case Values::kAnyBits:
      return any;
    case Values::kSubnormal:
      return any & ~exponent;
    case Values::kOneSpecial:
      if (rng.below(400) == 0) return rng.chance(0.5) ? exponent : exponent | 1;  // inf, NaN
      [[fallthrough]];
    case Values::kFinite:
      return (any & exponent) == exponent ? any & ~(1u << exponent_at) : any;
  }
  return 0;
}

std::vector<std::byte> draw_message(ElementType type, Values values, std::size_t bytes, Rng& rng) {
  std::vector<std::byte> message(bytes);
  const std::size_t size = gradient::element_bytes(type);
  for (std::size_t at = 0; at + size <= bytes; at += size) {
    const std::uint32_t bits = draw(type, values, rng);
    std::memcpy(message.data() + at, &bits, size);  // little-endian hosts only
  }
  return message;
}

template <ElementType type>
float mean_on_lanes(const CutMessage& cut, std::uint64_t packet) {
  std::array<float, gradient::kSums> parts{};
  for (unsigned lane = 0; lane < gradient::kSums; ++lane)
    parts[lane] = gradient::lane_sum<type>(cut, packet, lane);
  return gradient::mean_of_lanes<type>(cut, packet, parts.data());
}

template <ElementType type>
void check_type(Rng& rng) {
  const auto portable = gradient::magnitude_forms().front().mean;
  for (const Values values :
       {Values::kAnyBits, Values::kFinite, Values::kSubnormal, Values::kOneSpecial}) {
    for (const std::uint32_t packet_bytes : {4u, 60u, 1024u, 1408u, 4096u}) {
      for (const std::size_t bytes : {std::size_t{4}, std::size_t{4096}, std::size_t{20'000},
                                      std::size_t{20'003}, 64 * std::size_t{1024} + 12}) {
        const auto message = draw_message(type, values, bytes, rng);
        const CutMessage cut{message.data(), bytes, packet_bytes};
        REQUIRE(cut.packets() == (bytes + packet_bytes - 1) / packet_bytes);
        for (std::uint64_t packet = 0; packet < cut.packets(); ++packet) {
          const float expected =
              portable(type, {cut.packet(packet), std::size_t{cut.bytes_of(packet)}});
          const float got = mean_on_lanes<type>(cut, packet);
          if (std::bit_cast<std::uint32_t>(got) == std::bit_cast<std::uint32_t>(expected)) continue;
          FAIL("type " << static_cast<int>(type) << ", values " << static_cast<int>(values)
                       << ", packet " << packet << " of " << packet_bytes << " bytes: " << got
                       << " instead of " << expected);
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("the GPU's arithmetic gives the bits of the portable form", "[magnitude]") {
  Rng rng(11);
  check_type<ElementType::kFloat32>(rng);
  check_type<ElementType::kFloat16>(rng);
  check_type<ElementType::kBfloat16>(rng);
}
