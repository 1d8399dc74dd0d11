#include "wire/data_header.h"

#include "util/crc32c.h"
#include "wire/codec.h"

namespace dlcp::wire {
namespace {

constexpr std::size_t kCrcOffset = 36;

}  // namespace

std::size_t encode_data(const DataHeader& header, std::span<const std::byte> payload,
                        std::span<std::byte> out) {
  std::byte* at = out.data();
  const int flags = (header.payload_crc ? kFlagPayloadCrc : 0) |
                    (header.licensed ? kFlagLicensed : 0) |
                    (header.retransmission ? kFlagRetransmission : 0);
  at[0] = std::byte{kMagic};
  at[1] = std::byte{kWireVersion};
  at[2] = static_cast<std::byte>(FrameType::kData);
  at[3] = static_cast<std::byte>(flags);
  store_le(at + 4, header.destination);
  store_le(at + 12, header.message);
  store_le(at + 16, header.message_bytes);
  store_le(at + 20, header.offset);
  store_le(at + 24, header.path_sequence);
  store_le(at + 28, header.sent_at);
  at[32] = static_cast<std::byte>(header.path);
  at[33] = static_cast<std::byte>(header.traffic_class);
  at[34] = static_cast<std::byte>(header.window_epoch);
  at[35] = static_cast<std::byte>(header.reply_path);
  store_le(at + kCrcOffset, crc32c(out.first(kCrcOffset)));
  if (!header.payload_crc) return kDataHeaderBytes;
  store_le(at + kDataHeaderBytes, crc32c(payload));
  return kDataHeaderBytes + kPayloadCrcBytes;
}

std::optional<DataPacket> decode_data(std::span<const std::byte> datagram) {
  if (datagram.size() < kDataHeaderBytes) return std::nullopt;
  const std::byte* at = datagram.data();
  if (at[0] != std::byte{kMagic} || at[1] != std::byte{kWireVersion} ||
      at[2] != static_cast<std::byte>(FrameType::kData)) {
    return std::nullopt;
  }
  if (load_le<std::uint32_t>(at + kCrcOffset) != crc32c(datagram.first(kCrcOffset))) {
    return std::nullopt;
  }
  const auto flags = static_cast<std::uint8_t>(at[3]);
  const auto traffic_class = static_cast<std::uint8_t>(at[33]);
  if (traffic_class >= kTrafficClassCount) return std::nullopt;

  DataPacket packet;
  DataHeader& header = packet.header;
  header.destination = load_le<std::uint64_t>(at + 4);
  header.message = load_le<std::uint32_t>(at + 12);
  header.message_bytes = load_le<std::uint32_t>(at + 16);
  header.offset = load_le<std::uint32_t>(at + 20);
  header.path_sequence = load_le<std::uint32_t>(at + 24);
  header.sent_at = load_le<std::uint32_t>(at + 28);
  header.path = static_cast<std::uint8_t>(at[32]);
  header.traffic_class = static_cast<TrafficClass>(traffic_class);
  header.window_epoch = static_cast<std::uint8_t>(at[34]);
  header.reply_path = static_cast<std::uint8_t>(at[35]);
  header.licensed = (flags & kFlagLicensed) != 0;
  header.retransmission = (flags & kFlagRetransmission) != 0;
  header.payload_crc = (flags & kFlagPayloadCrc) != 0;
  const std::size_t header_bytes = kDataHeaderBytes + (header.payload_crc ? kPayloadCrcBytes : 0);
  if (datagram.size() < header_bytes) return std::nullopt;
  packet.payload = datagram.subspan(header_bytes);
  return packet;
}

bool payload_intact(std::span<const std::byte> datagram, const DataPacket& packet) {
  if (!packet.header.payload_crc) return true;
  return load_le<std::uint32_t>(datagram.data() + kDataHeaderBytes) == crc32c(packet.payload);
}

}  // namespace dlcp::wire
