#include "wire/data/header_tags.h"

#include <algorithm>
#include <array>

#include "wire/codec.h"
#include "wire/serial.h"

namespace dlcp::wire {
namespace {

// The words of kTagsTogether headers, arranged for siphash13_lanes(). Their numbers have the same
// kUnsentBits, those of `number`.
class LaneWords {
 public:
  explicit LaneWords(std::uint64_t number)
      : end_((number & kUnsentBits) | std::uint64_t{kDataTagOffset} << 56) {}
  void set(std::size_t lane, const std::byte* header) {
    for (std::size_t i = 0; i + 1 < kCount; ++i)
      words_[i * kTagsTogether + lane] = load_le<std::uint64_t>(header + 8 * i);
    words_[(kCount - 1) * kTagsTogether + lane] =
        load_le<std::uint32_t>(header + kDataTagOffset - 4) | end_;
  }
  std::array<std::uint64_t, kTagsTogether> tags(const Key& key) const {
    std::array<std::uint64_t, kTagsTogether> tags;
    siphash13_lanes(key, words_.data(), kCount, tags.data());
    return tags;
  }
  // Continues the run that begins with the header in lane 0: the other lanes follow it.
  void begin_run(std::size_t payload_bytes) {
    for (std::size_t lane = 1; lane < kTagsTogether; ++lane) {
      for (std::size_t i = 0; i < kCount; ++i)
        words_[i * kTagsTogether + lane] = words_[i * kTagsTogether];
      move(lane, lane, payload_bytes);
    }
  }
  // All lanes become those of the next kTagsTogether packets of the run.
  void continue_run(std::size_t payload_bytes) {
    for (std::size_t lane = 0; lane < kTagsTogether; ++lane)
      move(lane, kTagsTogether, payload_bytes);
  }
  // The bits in which the header differs from that of the lane.
  std::uint64_t differences(std::size_t lane, const std::byte* header) const {
    const auto in_word = [&](std::size_t i) {
      return words_[i * kTagsTogether + lane] ^ load_le<std::uint64_t>(header + 8 * i);
    };
    const std::uint64_t last = load_le<std::uint32_t>(header + kDataTagOffset - 4) | end_;
    return in_word(0) | in_word(1) | in_word(2) | in_word(3) |
           (words_[(kCount - 1) * kTagsTogether + lane] ^ last);
  }

 private:
  static constexpr std::size_t kCount = 5;
  static_assert(kDataTagOffset == 8 * kCount - 4);

  // The header that follows `packets` behind the lane's in a run: offset and number.
  void move(std::size_t lane, std::uint64_t packets, std::size_t payload_bytes) {
    words_[2 * kTagsTogether + lane] += packets * payload_bytes << 32;
    words_[3 * kTagsTogether + lane] += packets;
  }

  std::uint64_t end_;  // of the last word: what follows the header's bytes
  std::array<std::uint64_t, kCount * kTagsTogether> words_;
};

bool is_uncoded_data(std::span<const std::byte> bytes) {
  return data_header_bytes(bytes) == kDataHeaderBytes && bytes.size() >= kDataHeaderBytes &&
         (load_le<std::uint32_t>(bytes.data()) & 0xffffff) == kDataHead;
}

// Whether the packets' tags are those of the headers in `words`.
bool have_tags(std::span<const RxPacket> packets, const LaneWords& words, const Key& key) {
  const auto tags = words.tags(key);
  std::uint64_t differences = 0;
  for (std::size_t i = 0; i < kTagsTogether; ++i)
    differences |= tags[i] ^ load_le<std::uint64_t>(packets[i].bytes.data() + kDataTagOffset);
  return differences == 0;
}

}  // namespace

void seal_headers(const Key& key, std::uint64_t number, std::span<TxPacket> packets) {
  const std::uint64_t left = (std::uint64_t{1} << 32) - static_cast<std::uint32_t>(number);
  if (packets.size() > left) [[unlikely]] {
    seal_headers(key, number + left, packets.subspan(left));
    packets = packets.first(left);
  }
  LaneWords words(number);
  for (std::size_t begin = 0; begin < packets.size(); begin += kTagsTogether) {
    // The last group is filled up with copies of its first packet.
    const std::size_t count = std::min(kTagsTogether, packets.size() - begin);
    for (std::size_t i = 0; i < kTagsTogether; ++i)
      words.set(i, packets[begin + (i < count ? i : 0)].header.data());
    const auto tags = words.tags(key);
    for (std::size_t i = 0; i < count; ++i)
      store_le(packets[begin + i].header.data() + kDataTagOffset, tags[i]);
  }
}

bool authentic_together(std::span<const RxPacket> packets, std::uint64_t destination,
                        const DataSeal& seal, std::uint64_t number) {
  if (packets.size() < kTagsTogether || seal.protection != Protection::kHeader) return false;
  LaneWords words(number);
  for (std::size_t i = 0; i < kTagsTogether; ++i) {
    const std::span<const std::byte> bytes = packets[i].bytes;
    if (!is_uncoded_data(bytes)) return false;
    if (load_le<std::uint64_t>(bytes.data() + 4) != destination) return false;
    words.set(i, bytes.data());
  }
  return have_tags(packets, words, seal.key);
}

std::size_t authentic_run(std::span<const RxPacket> packets, const DataSeal& seal,
                          std::uint64_t number) {
  const RxPacket& first = packets.front();
  // Numbers of a run have the same kUnsentBits.
  const bool wraps = static_cast<std::uint32_t>(number) > ~std::uint32_t{0} - packets.size();
  if (seal.protection != Protection::kHeader || wraps || !is_uncoded_data(first.bytes)) return 0;
  const std::size_t bytes = first.bytes.size();
  LaneWords words(number);
  words.set(0, first.bytes.data());
  words.begin_run(bytes - kDataHeaderBytes);
  std::size_t count = 0;
  for (; count + kTagsTogether <= packets.size(); count += kTagsTogether) {
    const auto group = packets.subspan(count, kTagsTogether);
    for (std::size_t i = 0; i < kTagsTogether; ++i) {
      const RxPacket& packet = group[i];
      if (packet.bytes.size() != bytes || packet.ecn != first.ecn ||
          !(packet.source == first.source) || words.differences(i, packet.bytes.data()) != 0)
        return count;
    }
    if (!have_tags(group, words, seal.key)) return count;
    words.continue_run(bytes - kDataHeaderBytes);
  }
  return count;
}

}  // namespace dlcp::wire
