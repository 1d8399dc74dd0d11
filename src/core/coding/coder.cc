#include "core/coding/coder.h"

#include <algorithm>
#include <array>

#include "compression/packet_code.h"
#include "compression/sample.h"
#include "core/coding/coded_piece.h"
#include "wire/data_header.h"

namespace dlcp::core {
namespace {

// A message is compressed if that reduces its packets at least by this factor.
constexpr double kRatioMin = 1.05;
constexpr std::size_t kPlaces = 8;  // samples of a message
constexpr std::size_t kGranule = wire::kPayloadGranuleBytes;

struct ChunkSize {
  std::uint32_t bytes = 0;
  double ratio = 0;  // packets without compression per packet with it
};

// The chunk size that needs the fewest packets. It is found from the number of bytes that fit into
// a packet at each of kPlaces places; a larger chunk is assumed to need several packets there.
ChunkSize choose_chunk(std::span<const std::byte> message, compression::Format format,
                       std::uint32_t payload_bytes) {
  const std::size_t room = coded_room(payload_bytes);
  std::array<std::byte, 16 << 10> out;
  std::array<std::size_t, kPlaces> fits;
  const std::size_t step = message.size() / kPlaces / kGranule * kGranule;
  for (std::size_t i = 0; i < kPlaces; ++i) {
    const auto rest = message.subspan(i * step);
    const auto chunk = rest.first(std::min<std::size_t>(rest.size(), wire::kCodedChunkBytesMax));
    const auto packet =
        compression::encode(format, chunk, std::min(room, out.size()), kGranule, out);
    fits[i] = std::max(packet.taken / kGranule * kGranule, room / kGranule * kGranule);
  }
  ChunkSize best;
  for (const std::size_t size : fits) {
    std::size_t packets = 0;
    for (const std::size_t fit : fits)
      packets += (size + fit - 1) / fit;
    const double ratio = static_cast<double>(size) * kPlaces /
                         (static_cast<double>(packets) * static_cast<double>(payload_bytes));
    if (ratio > best.ratio) best = {static_cast<std::uint32_t>(size), ratio};
  }
  return best;
}

}  // namespace

MessageCoding Coder::choose(std::span<const std::byte> message, std::uint32_t payload_bytes) {
  if (pass_ > 0) {
    --pass_;
    return {};
  }
  for (int attempt = 0; attempt < 2; ++attempt) {
    const bool guessed = !format_;
    if (guessed) {
      const auto sample = compression::sample(message, std::nullopt);
      ratio_ = sample.ratio;
      if (sample.ratio < kRatioMin) break;
      format_ = sample.format;
    }
    const ChunkSize chunk = choose_chunk(message, *format_, payload_bytes);
    ratio_ = chunk.ratio;
    if (chunk.ratio >= kRatioMin) {
      pass_next_ = 1;
      return {chunk.bytes, *format_};
    }
    format_.reset();
    if (guessed) break;
  }
  pass_ = pass_next_;
  pass_next_ = std::min(2 * pass_next_, kPassMax);
  return {};
}

}  // namespace dlcp::core
