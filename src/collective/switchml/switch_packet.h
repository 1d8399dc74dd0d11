// A packet of SwitchML's UDP mode, in which a switch adds the numbers of all workers
// (p4app-switchML; NSDI 2021): a head of 8 bytes, two exponents, then 64 or 256 numbers. All fields
// are big-endian. The switch answers in the same format, with the sums. It reads size, slot, set,
// exponents and numbers, and returns job and serial unchanged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace dlcp::collective {

inline constexpr std::size_t kSwitchHeadBytes = 10;  // exponents included
inline constexpr unsigned kSwitchSlotsMax = 8192;
// Default number of slots of a worker: 128 KiB in flight, enough for an RTT of 10 us at 100 Gbit/s.
// More slots would only queue at hosts and delay the repair of lost packets.
inline constexpr unsigned kSwitchSlotsUsual = 128;
inline constexpr unsigned kSwitchWorkersMax = 32;         // one bit each in the switch's words
inline constexpr std::uint16_t kSwitchPortBase = 0xbee0;  // a switch listens on 0xbee0 to 0xbeef

// Range of the exponent e of a block of floats: all magnitudes are below 2^e. Subnormals and zeros
// have the lowest one. Blocks that reach 2^127 would need 128, which a signed byte cannot hold.
inline constexpr int kSwitchExponentMin = -126;
inline constexpr int kSwitchExponentMax = 127;

struct SwitchHead {
  std::uint8_t job = 0;
  std::uint32_t serial = 0;  // "tsi"; equal on all workers for packets that are summed
  std::uint16_t slot = 0;    // below kSwitchSlotsMax
  bool second_set = false;   // each slot has two sets of numbers, used alternately
  std::int8_t exponents[2] = {kSwitchExponentMin, kSwitchExponentMin};  // workers use the first one
  std::uint16_t values = 256;                                           // 64 or 256

  bool operator==(const SwitchHead&) const = default;
};

constexpr bool is_switch_size(std::size_t values) {
  return values == 64 || values == 256;
}
constexpr std::size_t switch_packet_bytes(std::size_t values) {
  return kSwitchHeadBytes + 4 * values;
}

// Writes the first kSwitchHeadBytes of `packet`.
void write_switch_head(const SwitchHead& head, std::span<std::byte> packet);

// Returns nullopt unless `packet` has this format and exactly the stated length.
std::optional<SwitchHead> read_switch_head(std::span<const std::byte> packet);

// The number at `index`; the packet must be long enough.
inline std::byte* switch_value_at(std::span<std::byte> packet, std::size_t index) {
  return packet.data() + switch_packet_bytes(index);
}
inline const std::byte* switch_value_at(std::span<const std::byte> packet, std::size_t index) {
  return packet.data() + switch_packet_bytes(index);
}

inline std::uint32_t load_be32(const std::byte* at) {
  return std::to_integer<std::uint32_t>(at[0]) << 24 | std::to_integer<std::uint32_t>(at[1]) << 16 |
         std::to_integer<std::uint32_t>(at[2]) << 8 | std::to_integer<std::uint32_t>(at[3]);
}
inline void store_be32(std::byte* at, std::uint32_t value) {
  for (int i = 0; i < 4; ++i)
    at[i] = static_cast<std::byte>(value >> (24 - 8 * i));
}

}  // namespace dlcp::collective
