#include "util/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dlcp {
namespace {

constexpr std::uint32_t kReflectedPolynomial = 0x82f63b78u;

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ ((crc & 1) ? kReflectedPolynomial : 0);
    table[i] = crc;
  }
  return table;
}

constexpr auto kTable = make_table();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t crc32c_sse42(const std::byte* at, std::size_t bytes,
                                                             std::uint32_t crc) {
  std::uint64_t state = static_cast<std::uint32_t>(~crc);
  for (const std::byte* const end = at + bytes / 8 * 8; at != end; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    state = _mm_crc32_u64(state, word);
  }
  auto tail = static_cast<std::uint32_t>(state);
  if ((bytes & 4) != 0) {
    std::uint32_t word;
    std::memcpy(&word, at, 4);
    tail = _mm_crc32_u32(tail, word);
    at += 4;
  }
  for (const std::byte* const end = at + bytes % 4; at != end; ++at)
    tail = _mm_crc32_u8(tail, static_cast<std::uint8_t>(*at));
  return ~tail;
}

bool supports_sse42() {
  __builtin_cpu_init();  // this runs before main, perhaps before the library's own initialisation
  return __builtin_cpu_supports("sse4.2");
}
const bool kHasSse42 = supports_sse42();
#endif

}  // namespace

std::uint32_t crc32c_portable(std::span<const std::byte> bytes, std::uint32_t crc) {
  crc = ~crc;
  for (const std::byte b : bytes)
    crc = kTable[(crc ^ static_cast<std::uint8_t>(b)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc) {
#if defined(__x86_64__)
  if (kHasSse42) return crc32c_sse42(bytes.data(), bytes.size(), crc);
#endif
  return crc32c_portable(bytes, crc);
}

}  // namespace dlcp
