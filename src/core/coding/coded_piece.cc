#include "core/coding/coded_piece.h"

#include <algorithm>

#include "compression/packet_code.h"

namespace dlcp::core {

CodedPiece code_piece(compression::Format format, std::span<const std::byte> rest,
                      std::uint32_t payload_bytes, wire::Buffer& memory) {
  const std::size_t room = coded_room(payload_bytes);
  const std::size_t memory_bytes = wire::kCodedHeaderBytes + room + compression::block_room(format);
  if (memory.size() < memory_bytes) memory.resize(memory_bytes);
  const auto out = std::span(memory).subspan(wire::kCodedHeaderBytes);
  const auto packet = compression::encode(format, rest, room, wire::kPayloadGranuleBytes, out);
  if (packet.taken == 0 || packet.written >= packet.taken) {
    const std::size_t whole = room - room % wire::kPayloadGranuleBytes;
    const std::size_t bytes = rest.size() <= room ? rest.size() : whole;
    return {rest.first(bytes), bytes, bytes};
  }
  // Pads packets that are nearly full, because only packets of equal length form a unit.
  const bool padded = packet.written * 10 >= room * 9;
  const std::size_t bytes = padded ? room : packet.written;
  std::ranges::fill(out.first(bytes).subspan(packet.written), std::byte{0});
  return {out.first(bytes), packet.taken, packet.written};
}

std::optional<std::span<const std::byte>> decode_piece(const wire::Coding& coding,
                                                       std::span<const std::byte> payload,
                                                       std::vector<std::byte>& memory) {
  if (coding.coded_bytes > payload.size()) return std::nullopt;
  const auto code = payload.first(coding.coded_bytes);
  if (coding.coded_bytes == coding.plain_bytes) return code;
  if (memory.size() < coding.plain_bytes) memory.resize(wire::kCodedChunkBytesMax);
  const auto plain = std::span(memory).first(coding.plain_bytes);
  if (!compression::decode(code, plain)) return std::nullopt;
  return plain;
}

}  // namespace dlcp::core
