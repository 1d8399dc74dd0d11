#include "util/hash/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>
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
#define DLCP_CRC_TARGET __attribute__((target("sse4.2")))
using State = std::uint64_t;  // the instruction's own type; narrowing costs one of three cycles

DLCP_CRC_TARGET inline State step(State crc, std::uint64_t word) {
  return _mm_crc32_u64(crc, word);
}
DLCP_CRC_TARGET inline State step(State crc, std::uint32_t word) {
  return _mm_crc32_u32(static_cast<std::uint32_t>(crc), word);
}
DLCP_CRC_TARGET inline State step(State crc, std::uint8_t byte) {
  return _mm_crc32_u8(static_cast<std::uint32_t>(crc), byte);
}

bool has_instruction() {
  __builtin_cpu_init();  // this runs before main, perhaps before the library's own initialisation
  return __builtin_cpu_supports("sse4.2");
}
#elif defined(__aarch64__)
#define DLCP_CRC_TARGET __attribute__((target("+crc")))
using State = std::uint32_t;

DLCP_CRC_TARGET inline State step(State crc, std::uint64_t word) {
  return __crc32cd(crc, word);
}
DLCP_CRC_TARGET inline State step(State crc, std::uint32_t word) {
  return __crc32cw(crc, word);
}
DLCP_CRC_TARGET inline State step(State crc, std::uint8_t byte) {
  return __crc32cb(crc, byte);
}

bool has_instruction() {
  return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
}
#endif

#if defined(DLCP_CRC_TARGET)
template <class Word>
DLCP_CRC_TARGET inline State step_at(State crc, const std::byte* at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return step(crc, word);
}

DLCP_CRC_TARGET std::uint32_t crc32c_instruction(const std::byte* at, std::size_t bytes,
                                                 std::uint32_t crc) {
  State state = ~crc;
  for (const std::byte* const end = at + bytes / 8 * 8; at != end; at += 8)
    state = step_at<std::uint64_t>(state, at);
  if ((bytes & 4) != 0) {
    state = step_at<std::uint32_t>(state, at);
    at += 4;
  }
  for (const std::byte* const end = at + bytes % 4; at != end; ++at)
    state = step_at<std::uint8_t>(state, at);
  return ~static_cast<std::uint32_t>(state);
}

const bool kHasInstruction = has_instruction();
#endif

}  // namespace

std::uint32_t crc32c_portable(std::span<const std::byte> bytes, std::uint32_t crc) {
  crc = ~crc;
  for (const std::byte b : bytes)
    crc = kTable[(crc ^ static_cast<std::uint8_t>(b)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc) {
#if defined(DLCP_CRC_TARGET)
  if (kHasInstruction) return crc32c_instruction(bytes.data(), bytes.size(), crc);
#endif
  return crc32c_portable(bytes, crc);
}

}  // namespace dlcp
