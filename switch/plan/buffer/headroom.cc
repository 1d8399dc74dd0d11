#include "switch/plan/buffer/headroom.h"

namespace dlcp::fabric {
namespace {

constexpr double kMetresPerSecond = 198'000'000;  // light in fibre
constexpr std::uint64_t kBytesPerQuantum = 64;

struct Response {
  std::uint64_t bits_per_second;
  std::uint64_t quanta;
};
// Slowest first; faster ports than the last need at least as many quanta.
constexpr Response kResponses[] = {
    {1'000'000'000, 2},    {10'000'000'000, 67},   {25'000'000'000, 80},   {40'000'000'000, 118},
    {50'000'000'000, 147}, {100'000'000'000, 394}, {200'000'000'000, 453}, {400'000'000'000, 905},
};

}  // namespace

std::uint64_t headroom_bytes(std::uint64_t bits_per_second, unsigned cable_metres,
                             std::uint64_t mtu_bytes) {
  if (cable_metres == 0) return 0;
  std::uint64_t quanta = kResponses[0].quanta;
  for (const Response& row : kResponses)
    if (row.bits_per_second <= bits_per_second) quanta = row.quanta;
  const double on_cable =
      2.0 * cable_metres * static_cast<double>(bits_per_second) / 8 / kMetresPerSecond;
  return static_cast<std::uint64_t>(on_cable) + quanta * kBytesPerQuantum + 2 * mtu_bytes;
}

}  // namespace dlcp::fabric
