// Packets of compressed messages: fills one with as much of a chunk as fits, and decodes one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compression/coder.h"
#include "compression/format.h"
#include "wire/data/data_header.h"
#include "wire/frames/control_frame.h"

namespace dlcp::core {

struct CodedPiece {
  // In `memory`, after room for the packet's header, or part of `rest` if coding gains nothing.
  std::span<const std::byte> payload;
  std::size_t plain_bytes = 0;  // taken from `rest`
  std::size_t coded_bytes = 0;  // of the payload, which may be padded
};

// The payload bytes of a compressed packet, whose header is longer. `payload_bytes`: of an
// uncompressed packet.
constexpr std::size_t coded_room(std::uint32_t payload_bytes) {
  return payload_bytes - (wire::kCodedHeaderBytes - wire::kDataHeaderBytes);
}

// `payload_bytes`: of an uncompressed packet.
constexpr compression::PacketSizes packet_sizes(std::uint32_t payload_bytes) {
  return {payload_bytes, coded_room(payload_bytes), wire::kPayloadGranuleBytes,
          wire::kCodedChunkBytesMax};
}

// `rest`: the unsent part of a chunk, not empty. `payload_bytes`: of an uncompressed packet.
CodedPiece code_piece(compression::Format format, std::span<const std::byte> rest,
                      std::uint32_t payload_bytes, wire::Buffer& memory);

// The plain bytes of a packet, in `memory` or in the payload itself; nullopt if the bytes are not a
// valid code, for example because they were damaged.
std::optional<std::span<const std::byte>> decode_piece(const wire::Coding& coding,
                                                       std::span<const std::byte> payload,
                                                       std::vector<std::byte>& memory);

}  // namespace dlcp::core
