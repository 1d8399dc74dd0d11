#include "compression/sample.h"

#include <algorithm>
#include <array>

#include "compression/packet_code.h"

namespace dlcp::compression {
namespace {

constexpr Format kGuesses[] = {Format::kBfloat16, Format::kFloat16, Format::kFloat32};
constexpr std::size_t kAlignment = 64;  // of blocks in a message: a multiple of every element size

double ratio_of(std::span<const std::byte> message, Format format) {
  const BlockForm& form = best_form();
  const std::size_t blocks =
      std::clamp<std::size_t>(message.size() / kSampleBlockBytes, 1, kSampleBlocks);
  const std::size_t step = message.size() / blocks / kAlignment * kAlignment;
  std::array<std::byte, encoded_bytes_max(Format::kFloat8E4m3, kSampleBlockBytes) +
                            block_room(Format::kFloat32)>
      out;
  std::size_t taken = 0;
  std::size_t written = 0;
  for (std::size_t i = 0; i < blocks; ++i) {
    const auto rest = message.subspan(i * step);
    const auto block = rest.first(std::min(rest.size(), kSampleBlockBytes));
    const Packet packet = encode(form, format, block, out.size(), 1, out);
    taken += packet.taken;
    written += packet.written - 1;  // the format byte is shared by many blocks
  }
  return written == 0 ? 1 : static_cast<double>(taken) / static_cast<double>(written);
}

}  // namespace

Sample sample(std::span<const std::byte> message, std::optional<Format> known) {
  Sample best;
  if (message.empty()) return best;
  if (known) return {*known, std::max(1.0, ratio_of(message, *known))};
  for (const Format format : kGuesses) {
    const double ratio = ratio_of(message, format);
    if (ratio > best.ratio) best = {format, ratio};
  }
  return best;
}

}  // namespace dlcp::compression
