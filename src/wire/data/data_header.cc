#include "wire/data/data_header.h"

#include "wire/codec.h"
#include "wire/data/header_tags.h"
#include "wire/serial.h"

namespace dlcp::wire {
namespace {

constexpr std::size_t kCodedTagOffset = 44;  // of compressed messages; of others kDataTagOffset
constexpr unsigned kLicensed = 1u << 0;
constexpr unsigned kRetransmission = 1u << 1;
constexpr unsigned kAsksAck = 1u << 2;
constexpr unsigned kCoded = 1u << 3;
constexpr unsigned kClassShift = 4;
constexpr unsigned kClassMask = 7;
constexpr unsigned kCopied = 1u << 7;
static_assert(kTrafficClassCount <= kClassMask + 1);

bool is_coded(const std::byte* header) {
  return (std::to_integer<unsigned>(header[3]) & kCoded) != 0;
}

std::size_t tag_offset(const std::byte* header) {
  return is_coded(header) ? kCodedTagOffset : kDataTagOffset;
}

// A header up to its tag, as the words that are hashed. A sender keeps them in registers: after
// stores of single fields the processor would have to wait before it could load them as words.
struct Words {
  std::uint64_t first, second, third, fourth;
  std::uint64_t coding = 0;  // of compressed messages only; includes the paths in front of it
  std::uint32_t last = 0;    // the last word before the tag
  bool coded = false;

  std::size_t bytes() const { return coded ? kCodedTagOffset : kDataTagOffset; }
};

Words words_of(const std::byte* header) {
  Words words{load_le<std::uint64_t>(header), load_le<std::uint64_t>(header + 8),
              load_le<std::uint64_t>(header + 16), load_le<std::uint64_t>(header + 24)};
  words.coded = is_coded(header);
  if (words.coded) [[unlikely]]
    words.coding = load_le<std::uint64_t>(header + 32);
  words.last = load_le<std::uint32_t>(header + words.bytes() - sizeof words.last);
  return words;
}

Words words_of(const DataHeader& header) {
  const bool coded = header.coding.used();
  const unsigned flags =
      static_cast<unsigned>(header.traffic_class) << kClassShift |
      (header.licensed ? kLicensed : 0) | (header.retransmission ? kRetransmission : 0) |
      (header.asks_ack ? kAsksAck : 0) | (coded ? kCoded : 0) | (header.copied ? kCopied : 0);
  const std::uint32_t head = kDataHead | flags << 24;
  Words words{head | header.destination << 32,
              header.destination >> 32 | std::uint64_t{header.message} << 32,
              header.message_bytes | std::uint64_t{header.offset} << 32,
              header.path_sequence | std::uint64_t{header.sent_at} << 32};
  words.last = std::uint32_t{header.path} | std::uint32_t{header.reply_path} << 8 |
               std::uint32_t{header.window_epoch} << 16;
  words.coded = coded;
  if (coded) [[unlikely]] {
    words.coding = words.last |
                   std::uint64_t{header.coding.chunk_bytes / kPayloadGranuleBytes} << 32 |
                   std::uint64_t{header.coding.plain_bytes} << 48;
    words.last = header.coding.coded_bytes;
  }
  return words;
}

// SipHash-1-3 of the bytes before the tag, written out because it runs for every packet. With
// Protection::kFull the payload is hashed after them.
[[gnu::always_inline]] inline std::uint64_t tag_of(const Words& words, std::uint64_t number,
                                                   std::span<const std::byte> payload,
                                                   const DataSeal& seal) {
  SipHash<1, 3> hash(seal.key);
  hash.add(words.first);
  hash.add(words.second);
  hash.add(words.third);
  hash.add(words.fourth);
  if (words.coded) [[unlikely]]
    hash.add(words.coding);
  hash.add(words.last | (number & kUnsentBits) | std::uint64_t{words.bytes()} << 56);
  if (seal.protection == Protection::kFull) hash.add_last(payload);
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

void encode_run(const DataHeader& first, std::size_t payload_bytes, std::span<TxPacket> packets) {
  Words words = words_of(first);
  std::uint32_t number = first.path_sequence;
  words.fourth -= number;
  for (TxPacket& packet : packets) {
    std::byte* const at = packet.header.data();
    store_le(at, words.first);
    store_le(at + 8, words.second);
    store_le(at + 16, words.third);
    store_le(at + 24, words.fourth | number++);
    store_le(at + kDataTagOffset - sizeof words.last, words.last);
    words.third += std::uint64_t{payload_bytes} << 32;  // the offset
  }
}

void ask_ack(TxPacket& packet) {
  packet.header[3] |= std::byte{kAsksAck};
}

void seal_header(const DataSeal& seal, std::uint64_t number, TxPacket& packet) {
  std::byte* const at = packet.header.data();
  store_le(at + kDataTagOffset, tag_of(words_of(at), number, packet.payload, seal));
}

void encode_data(const DataHeader& header, std::uint64_t number, std::span<const std::byte> payload,
                 const DataSeal& seal, std::span<std::byte> out) {
  const Words words = words_of(header);
  std::byte* at = out.data();
  store_le(at, words.first);
  store_le(at + 8, words.second);
  store_le(at + 16, words.third);
  store_le(at + 24, words.fourth);
  if (words.coded) [[unlikely]]
    store_le(at + 32, words.coding);
  store_le(at + words.bytes() - sizeof words.last, words.last);
  store_le(at + words.bytes(), tag_of(words, number, payload, seal));
}

bool decode_data(std::span<const std::byte> datagram, DataPacket& packet) {
  if (datagram.size() < kDataHeaderBytes) return false;
  const std::byte* at = datagram.data();
  if ((load_le<std::uint32_t>(at) & 0xffffff) != kDataHead) return false;
  const auto flags = std::to_integer<unsigned>(at[3]);
  const unsigned traffic_class = flags >> kClassShift & kClassMask;
  if (traffic_class >= kTrafficClassCount) return false;

  DataHeader& header = packet.header;
  header.coding = {};
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
  header.copied = (flags & kCopied) != 0;
  if ((flags & kCoded) != 0) {
    if (datagram.size() < kCodedHeaderBytes) return false;
    header.coding = coding_of(at);
    if (!is_sound(header.coding)) return false;
  }
  packet.payload = datagram.subspan(header.bytes());
  return true;
}

std::size_t data_header_bytes(std::span<const std::byte> datagram) {
  if (datagram.size() < kDataHeaderBytes) return datagram.size();
  return tag_offset(datagram.data()) + sizeof(std::uint64_t);
}

bool authentic(std::span<const std::byte> datagram, const DataSeal& seal, std::uint64_t number) {
  const std::size_t at = tag_offset(datagram.data());
  return load_le<std::uint64_t>(datagram.data() + at) ==
         tag_of(words_of(datagram.data()), number, datagram.subspan(at + sizeof(std::uint64_t)),
                seal);
}

}  // namespace dlcp::wire
