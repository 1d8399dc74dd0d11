#include "wire/data_header.h"

#include "wire/codec.h"

namespace dlcp::wire {
namespace {

constexpr std::size_t kTagOffset = 36;       // of most packets
constexpr std::size_t kCodedTagOffset = 44;  // of compressed messages
constexpr unsigned kLicensed = 1u << 0;
constexpr unsigned kRetransmission = 1u << 1;
constexpr unsigned kAsksAck = 1u << 2;
constexpr unsigned kCoded = 1u << 3;
constexpr unsigned kClassShift = 4;
static_assert(kTrafficClassCount <= 16);

bool is_coded(const std::byte* header) {
  return (std::to_integer<unsigned>(header[3]) & kCoded) != 0;
}

std::size_t tag_offset(const std::byte* header) {
  return is_coded(header) ? kCodedTagOffset : kTagOffset;
}

// Of a header alone this is SipHash-1-3 of the bytes before the tag, written out because it is the
// price of every packet. A protected payload follows as if it stood behind them.
std::uint64_t tag_of(const std::byte* header, std::span<const std::byte> payload,
                     const DataSeal& seal) {
  SipHash<1, 3> hash(seal.key);
  for (std::size_t at = 0; at < 32; at += 8)
    hash.add(load_le<std::uint64_t>(header + at));
  if (is_coded(header)) [[unlikely]] {
    hash.add(load_le<std::uint64_t>(header + 32));
    hash.add(load_le<std::uint32_t>(header + 40) | std::uint64_t{kCodedTagOffset} << 56);
  } else {
    hash.add(load_le<std::uint32_t>(header + 32) | std::uint64_t{kTagOffset} << 56);
  }
  if (seal.protection == Protection::kFull) {
    if (seal.tags != nullptr)
      return seal.tags->tag(seal.key, {header, tag_offset(header)}, payload);
    hash.add_last(payload);
  }
  return hash.finish();
}

Coding coding_of(const std::byte* header) {
  return {load_le<std::uint16_t>(header + 36) * std::uint32_t{kPayloadGranuleBytes},
          load_le<std::uint16_t>(header + 38), load_le<std::uint16_t>(header + 40)};
}

bool is_sound(const Coding& coding) {
  return coding.used() && coding.chunk_bytes <= kCodedChunkBytesMax && coding.plain_bytes > 0 &&
         coding.plain_bytes <= coding.chunk_bytes && coding.coded_bytes > 0 &&
         coding.coded_bytes <= coding.plain_bytes;
}

}  // namespace

std::uint64_t data_tag(const Key& key, std::span<const std::byte> header,
                       std::span<const std::byte> payload) {
  return tag_of(header.data(), payload, {key, Protection::kFull});
}

void encode_data(const DataHeader& header, std::span<const std::byte> payload, const DataSeal& seal,
                 std::span<std::byte> out) {
  std::byte* at = out.data();
  const unsigned flags = static_cast<unsigned>(header.traffic_class) << kClassShift |
                         (header.licensed ? kLicensed : 0) |
                         (header.retransmission ? kRetransmission : 0) |
                         (header.asks_ack ? kAsksAck : 0) | (header.coding.used() ? kCoded : 0);
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
  at[33] = static_cast<std::byte>(header.reply_path);
  store_le(at + 34, header.window_epoch);
  if (header.coding.used()) {
    store_le(at + 36, static_cast<std::uint16_t>(header.coding.chunk_bytes / kPayloadGranuleBytes));
    store_le(at + 38, static_cast<std::uint16_t>(header.coding.plain_bytes));
    store_le(at + 40, static_cast<std::uint16_t>(header.coding.coded_bytes));
    store_le(at + 42, std::uint16_t{0});
  }
  store_le(at + tag_offset(at), tag_of(at, payload, seal));
}

std::optional<DataPacket> decode_data(std::span<const std::byte> datagram) {
  if (datagram.size() < kDataHeaderBytes) return std::nullopt;
  const std::byte* at = datagram.data();
  if (at[0] != std::byte{kMagic} || at[1] != std::byte{kWireVersion} ||
      at[2] != static_cast<std::byte>(FrameType::kData))
    return std::nullopt;
  const auto flags = std::to_integer<unsigned>(at[3]);
  const unsigned traffic_class = flags >> kClassShift;
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
  header.reply_path = static_cast<std::uint8_t>(at[33]);
  header.window_epoch = load_le<std::uint16_t>(at + 34);
  header.traffic_class = static_cast<TrafficClass>(traffic_class);
  header.licensed = (flags & kLicensed) != 0;
  header.retransmission = (flags & kRetransmission) != 0;
  header.asks_ack = (flags & kAsksAck) != 0;
  if ((flags & kCoded) != 0) {
    if (datagram.size() < kCodedHeaderBytes) return std::nullopt;
    header.coding = coding_of(at);
    if (!is_sound(header.coding)) return std::nullopt;
  }
  packet.payload = datagram.subspan(header.bytes());
  return packet;
}

std::size_t data_header_bytes(std::span<const std::byte> datagram) {
  if (datagram.size() < kDataHeaderBytes) return datagram.size();
  return tag_offset(datagram.data()) + sizeof(std::uint64_t);
}

bool authentic(std::span<const std::byte> datagram, const DataSeal& seal) {
  const std::size_t at = tag_offset(datagram.data());
  return load_le<std::uint64_t>(datagram.data() + at) ==
         tag_of(datagram.data(), datagram.subspan(at + sizeof(std::uint64_t)), seal);
}

}  // namespace dlcp::wire
