#include "core/coding/decoder.h"

#include "compression/packet_code.h"

namespace dlcp::core {

std::optional<std::span<const std::byte>> Decoder::decode(const wire::Coding& coding,
                                                          std::span<const std::byte> payload) {
  if (coding.coded_bytes > payload.size()) return std::nullopt;
  const auto code = payload.first(coding.coded_bytes);
  if (coding.coded_bytes == coding.plain_bytes) return code;
  if (plain_.size() < coding.plain_bytes) plain_.resize(wire::kCodedChunkBytesMax);
  const auto plain = std::span(plain_).first(coding.plain_bytes);
  if (!compression::decode(code, plain)) return std::nullopt;
  return plain;
}

}  // namespace dlcp::core
