// A compressed packet: one byte for the format, then blocks of 256 elements; the last block may be
// shorter. Every packet can be decoded separately. The code is lossless for any bytes.
#pragma once

#include <span>

#include "compression/block/form.h"

namespace dlcp::compression {

struct Packet {
  std::size_t taken = 0;    // bytes of the source that the packet holds
  std::size_t written = 0;  // bytes of the packet
  // Biased exponent of the largest magnitude; the format's maximum for an infinity or a NaN.
  std::uint8_t largest_exponent = 0;
};

// Maximum growth per block of incompressible elements, in addition to one byte per packet.
inline constexpr std::size_t kRawBlockBytes = 1;

// The maximum size of the packet for `bytes` bytes.
constexpr std::size_t encoded_bytes_max(Format format, std::size_t bytes) {
  const std::size_t block = kBlockElements * element_bytes(format);
  return 1 + bytes + (bytes + block - 1) / block * kRawBlockBytes + 1;
}

// Encodes as much of `source`, from its beginning, as fits in `room` bytes: all of it, or a
// multiple of `granule` bytes (a power of two, from an element to 256); 0 if nothing fits. The
// packet may be longer than the bytes that it holds; the caller then sends them uncompressed. `out`
// has at least `room` bytes. Encoding is faster with block_room() more, which may be overwritten.
Packet encode(Format format, std::span<const std::byte> source, std::size_t room,
              std::size_t granule, std::span<std::byte> out);

// Decodes a packet into `out`, whose size is what encode() took. False if the bytes are not a
// packet of this size; the contents of `out` are then undefined. For any input, only `packet` is
// read and only `out` is written.
[[nodiscard]] bool decode(std::span<const std::byte> packet, std::span<std::byte> out);

// The same with a given form, for tests and measurements.
Packet encode(const BlockForm& form, Format format, std::span<const std::byte> source,
              std::size_t room, std::size_t granule, std::span<std::byte> out);
[[nodiscard]] bool decode(const BlockForm& form, std::span<const std::byte> packet,
                          std::span<std::byte> out);

}  // namespace dlcp::compression
