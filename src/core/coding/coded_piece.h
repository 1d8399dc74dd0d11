// Fills a packet with as much of a chunk as fits when compressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "compression/format.h"
#include "wire/control_frame.h"
#include "wire/data_header.h"

namespace dlcp::core {

struct CodedPiece {
  // In `memory`, behind room for the packet's header, or `rest` itself where coding gains nothing.
  std::span<const std::byte> payload;
  std::size_t plain_bytes = 0;  // of `rest`
  std::size_t coded_bytes = 0;  // of the payload, which may be padded
};

// `rest`: what is left of a chunk, not empty. `payload_bytes`: of a packet that is not compressed.
CodedPiece code_piece(compression::Format format, std::span<const std::byte> rest,
                      std::uint32_t payload_bytes, wire::Buffer& memory);

}  // namespace dlcp::core
