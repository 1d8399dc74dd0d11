// A compressed packet: one byte that names the format, then blocks of 256 elements. The last block
// may be shorter. Every packet decodes alone. The code is lossless for any bytes.
#pragma once

#include <span>

#include "compression/block/form.h"

namespace dlcp::compression {

struct Packet {
  std::size_t taken = 0;    // bytes of the source that the packet holds
  std::size_t written = 0;  // bytes of the packet
  // Biased exponent of the largest magnitude; an infinity or a NaN has the format's largest.
  std::uint8_t largest_exponent = 0;
};

// More than this per block of incompressible elements is never added, and one byte per packet.
inline constexpr std::size_t kRawBlockBytes = 1;

// The largest packet that `bytes` bytes can become.
constexpr std::size_t encoded_bytes_max(Format format, std::size_t bytes) {
  const std::size_t block = kBlockElements * element_bytes(format);
  return 1 + bytes + (bytes + block - 1) / block * kRawBlockBytes + 1;
}

// Encodes as much of `source` from its front as fits in `room` bytes. Takes all of it, or else a
// multiple of `granule` bytes (a power of two, from an element to 256); takes 0 if nothing fits.
// The packet may be longer than the bytes that it holds; the caller then sends them uncompressed.
// `out` has at least `room` bytes. It is quicker with block_room() more, which may be
// overwritten.
Packet encode(Format format, std::span<const std::byte> source, std::size_t room,
              std::size_t granule, std::span<std::byte> out);

// Decodes a packet into `out`, whose size is what encode() took. False if the bytes are not a
// packet of this size; `out` then holds anything. Reads only `packet` and writes only `out`,
// whatever the bytes are.
[[nodiscard]] bool decode(std::span<const std::byte> packet, std::span<std::byte> out);

// The same with a given form, for tests and measurements.
Packet encode(const BlockForm& form, Format format, std::span<const std::byte> source,
              std::size_t room, std::size_t granule, std::span<std::byte> out);
[[nodiscard]] bool decode(const BlockForm& form, std::span<const std::byte> packet,
                          std::span<std::byte> out);

}  // namespace dlcp::compression
