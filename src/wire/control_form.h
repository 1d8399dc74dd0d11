// How every frame but a data packet begins and ends: shared by the files that encode and decode
// them.
#pragma once

#include <optional>
#include <span>

#include "util/crc32c.h"
#include "wire/codec.h"
#include "wire/control_frame.h"

namespace dlcp::wire {

inline constexpr std::size_t kTrailerBytes = 4;  // CRC-32C

inline Writer begin_frame(Buffer& out, FrameType type, std::uint64_t destination) {
  out.clear();
  Writer writer(out);
  writer.put(kMagic);
  writer.put(kWireVersion);
  writer.put(static_cast<std::uint8_t>(type));
  writer.put(std::uint8_t{0});
  writer.put(destination);
  return writer;
}

inline void seal_frame(Buffer& out) {
  const std::uint32_t crc = crc32c(out);
  Writer(out).put(crc);
}

// The body of an intact frame of `type`, or nullopt.
inline std::optional<Reader> open_frame(std::span<const std::byte> datagram, FrameType type,
                                        bool any_version = false) {
  if (!control_intact(datagram) || datagram[2] != static_cast<std::byte>(type)) return std::nullopt;
  if (!any_version && datagram[1] != std::byte{kWireVersion}) return std::nullopt;
  return Reader(
      datagram.subspan(kFrameHeadBytes, datagram.size() - kFrameHeadBytes - kTrailerBytes));
}

inline std::uint64_t frame_destination(std::span<const std::byte> datagram) {
  return load_le<std::uint64_t>(datagram.data() + 4);
}

}  // namespace dlcp::wire
