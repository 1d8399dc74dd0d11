#include "engine/host/coding_cost.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "compression/packet_code.h"
#include "engine/host/clock.h"
#include "util/rng.h"

namespace dlcp::engine {
namespace {

constexpr std::size_t kBytes = 32 << 10;
constexpr std::size_t kPacketBytes = 1400;
constexpr int kRuns = 4;

// bf16 numbers whose exponents differ by only a few values.
std::vector<std::byte> example() {
  std::vector<std::byte> bytes(kBytes);
  Rng rng(1);
  for (std::size_t at = 0; at < kBytes; at += 2) {
    const auto bits = static_cast<std::uint16_t>(rng.next() & 0x83ff) | 0x3c00;
    std::memcpy(&bytes[at], &bits, 2);
  }
  return bytes;
}

void encode_all(std::span<const std::byte> rest, std::span<std::byte> out) {
  while (!rest.empty()) {
    const auto packet =
        compression::encode(compression::Format::kBfloat16, rest, kPacketBytes, 128, out);
    rest = rest.subspan(packet.taken);
    out = out.subspan(packet.written);
  }
}

}  // namespace

double measure_encode_s_per_byte() {
  const std::vector<std::byte> message = example();
  std::vector<std::byte> codes(kBytes + 4 * kPacketBytes);
  double best = std::numeric_limits<double>::max();
  for (int run = 0; run < kRuns; ++run) {
    const Time begin = steady_now();
    encode_all(message, codes);
    best = std::min(best, std::chrono::duration<double>(steady_now() - begin).count());
  }
  return best / static_cast<double>(kBytes);
}

}  // namespace dlcp::engine
