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

struct Coded {
  std::size_t plain = 0;  // bytes of the message
  std::size_t begin = 0;  // of the packet in Codes::bytes
  std::size_t size = 0;
};

struct Codes {
  std::vector<std::byte> bytes;
  std::vector<Coded> packets;
};

void encode_all(std::span<const std::byte> rest, Codes& codes) {
  codes.packets.clear();
  for (std::size_t at = 0; !rest.empty();) {
    const auto out = std::span(codes.bytes).subspan(at);
    const auto packet =
        compression::encode(compression::Format::kBfloat16, rest, kPacketBytes, 128, out);
    codes.packets.push_back({packet.taken, at, packet.written});
    rest = rest.subspan(packet.taken);
    at += packet.written;
  }
}

void decode_all(const Codes& codes, std::span<std::byte> out) {
  for (const Coded& packet : codes.packets) {
    const auto code = std::span(codes.bytes).subspan(packet.begin, packet.size);
    if (!compression::decode(code, out.first(packet.plain))) return;
    out = out.subspan(packet.plain);
  }
}

template <class Work>
double seconds_per_byte(Work&& work) {
  double best = std::numeric_limits<double>::max();
  for (int run = 0; run < kRuns; ++run) {
    const Time begin = steady_now();
    work();
    best = std::min(best, std::chrono::duration<double>(steady_now() - begin).count());
  }
  return best / static_cast<double>(kBytes);
}

}  // namespace

CodingCost measure_coding_cost() {
  const std::vector<std::byte> message = example();
  std::vector<std::byte> plain(kBytes);
  Codes codes{std::vector<std::byte>(kBytes + 4 * kPacketBytes), {}};
  CodingCost cost;
  cost.encode_s_per_byte = seconds_per_byte([&] { encode_all(message, codes); });
  cost.decode_s_per_byte = seconds_per_byte([&] { decode_all(codes, plain); });
  return cost;
}

}  // namespace dlcp::engine
