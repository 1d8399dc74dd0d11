#include "collective/switchml/switch_packet.h"

namespace dlcp::collective {
namespace {

constexpr unsigned kMessageType = 1;
constexpr unsigned kSize256Bytes = 1;  // the numbering of InfiniBand's packet sizes
constexpr unsigned kSize1024Bytes = 3;
constexpr unsigned kSecondSet = 0x8000;

}  // namespace

void write_switch_head(const SwitchHead& head, std::span<std::byte> packet) {
  const unsigned size = head.values == 256 ? kSize1024Bytes : kSize256Bytes;
  const unsigned pool = head.slot | (head.second_set ? kSecondSet : 0u);
  packet[0] = static_cast<std::byte>(kMessageType << 4 | size);
  packet[1] = static_cast<std::byte>(head.job);
  store_be32(packet.data() + 2, head.serial);
  packet[6] = static_cast<std::byte>(pool >> 8);
  packet[7] = static_cast<std::byte>(pool & 0xff);
  packet[8] = static_cast<std::byte>(head.exponents[0]);
  packet[9] = static_cast<std::byte>(head.exponents[1]);
}

std::optional<SwitchHead> read_switch_head(std::span<const std::byte> packet) {
  if (packet.size() < kSwitchHeadBytes) return std::nullopt;
  const auto first = std::to_integer<unsigned>(packet[0]);
  if (first >> 4 != kMessageType) return std::nullopt;
  SwitchHead head;
  if ((first & 7) == kSize256Bytes)
    head.values = 64;
  else if ((first & 7) == kSize1024Bytes)
    head.values = 256;
  else
    return std::nullopt;
  if (packet.size() != switch_packet_bytes(head.values)) return std::nullopt;
  const auto pool =
      std::to_integer<unsigned>(packet[6]) << 8 | std::to_integer<unsigned>(packet[7]);
  head.second_set = (pool & kSecondSet) != 0;
  head.slot = static_cast<std::uint16_t>(pool & ~kSecondSet);
  if (head.slot >= kSwitchSlotsMax) return std::nullopt;
  head.job = std::to_integer<std::uint8_t>(packet[1]);
  head.serial = load_be32(packet.data() + 2);
  head.exponents[0] = static_cast<std::int8_t>(std::to_integer<std::uint8_t>(packet[8]));
  head.exponents[1] = static_cast<std::int8_t>(std::to_integer<std::uint8_t>(packet[9]));
  return head;
}

}  // namespace dlcp::collective
