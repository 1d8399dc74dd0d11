#include "compression/coder.h"

#include <algorithm>
#include <array>

#include "compression/packet_code.h"
#include "compression/sample.h"

namespace dlcp::compression {
namespace {

// A message is compressed if that reduces its packets at least by this factor.
constexpr double kRatioMin = 1.05;
// Samples of a message: one for each kPlaceBytes, so that the samples of short messages do not cost
// as much as the messages.
constexpr std::size_t kPlacesMin = 2;
constexpr std::size_t kPlacesMax = 8;
constexpr std::size_t kPlaceBytes = 8 << 10;

struct ChunkSize {
  std::uint32_t bytes = 0;
  double ratio = 0;  // packets without compression per packet with it
};

// The chunk size that needs the fewest packets. It is found from the number of bytes that fit into
// a packet at some places; a larger chunk is assumed to need several packets there.
ChunkSize choose_chunk(std::span<const std::byte> message, Format format,
                       const PacketSizes& packet) {
  std::array<std::byte, 16 << 10> out;
  std::array<std::size_t, kPlacesMax> all_fits;
  const std::size_t places = std::clamp(message.size() / kPlaceBytes, kPlacesMin, kPlacesMax);
  const auto fits = std::span(all_fits).first(places);
  const auto granules = [&](std::size_t bytes) { return bytes - bytes % packet.granule; };
  const std::size_t step = granules(message.size() / places);
  for (std::size_t i = 0; i < places; ++i) {
    const auto rest = message.subspan(i * step);
    const auto chunk = rest.first(std::min(rest.size(), packet.chunk_bytes_max));
    const auto code =
        encode(format, chunk, std::min(packet.coded, out.size()), packet.granule, out);
    fits[i] = std::max(granules(code.taken), granules(packet.coded));
  }
  ChunkSize best;
  for (const std::size_t size : fits) {
    std::size_t packets = 0;
    for (const std::size_t fit : fits)
      packets += (size + fit - 1) / fit;
    const double ratio =
        static_cast<double>(size * places) / static_cast<double>(packets * packet.plain);
    if (ratio > best.ratio) best = {static_cast<std::uint32_t>(size), ratio};
  }
  return best;
}

}  // namespace

// Returns an unused coding if the message is not worth compressing.
MessageCoding Coder::code(std::span<const std::byte> message, const PacketSizes& packet) {
  if (++format_age_ > kFormatMessages) format_.reset();
  if (format_) {
    const ChunkSize chunk = choose_chunk(message, *format_, packet);
    if (chunk.ratio >= std::max(kRatioMin, kRatioFall * ratio_)) {
      ratio_ = chunk.ratio;
      return {chunk.bytes, *format_};
    }
    format_.reset();
  }
  const auto sample = compression::sample(message, std::nullopt);
  ratio_ = sample.ratio;
  if (sample.ratio < kRatioMin) return {};
  const ChunkSize chunk = choose_chunk(message, sample.format, packet);
  ratio_ = chunk.ratio;
  if (chunk.ratio < kRatioMin) return {};
  if (sample.typed) format_ = sample.format;
  format_age_ = 0;
  return {chunk.bytes, sample.format};
}

MessageCoding Coder::choose(std::span<const std::byte> message, const PacketSizes& packet) {
  if (pass_ > 0) {
    --pass_;
    return {};
  }
  const MessageCoding coding = code(message, packet);
  if (coding.used()) {
    pass_next_ = 1;
  } else {
    pass_ = pass_next_;
    pass_next_ = std::min(2 * pass_next_, kPassMax);
  }
  return coding;
}

}  // namespace dlcp::compression
