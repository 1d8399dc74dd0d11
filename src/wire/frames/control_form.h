// The common beginning and end of all frames except data packets. Used by the files that encode and
// decode frames; fields.h has what they do in between.
#pragma once

#include <optional>

#include "wire/frames/control_frame.h"
#include "wire/frames/fields.h"

namespace dlcp::wire {

// Writes the head, and space for the sequence number, which seal() fills in.
inline void begin_frame(Buffer& out, FrameType type, std::uint64_t destination) {
  out.clear();
  Writer writer(out);
  writer.put(kMagic);
  writer.put(kWireVersion);
  writer.put(static_cast<std::uint8_t>(type));
  writer.put(std::uint8_t{0});
  writer.put(destination);
  writer.put(std::uint32_t{0});
}

inline std::uint64_t frame_destination(std::span<const std::byte> datagram) {
  return load_le<std::uint64_t>(datagram.data() + 4);
}

// The fields of a frame of `type`, or nullopt. Does not check authenticity.
inline std::optional<FieldReader> open_frame(std::span<const std::byte> datagram, FrameType type) {
  if (datagram.size() < kControlHeadBytes + kTagBytes || datagram[0] != std::byte{kMagic} ||
      datagram[1] != std::byte{kWireVersion} || datagram[2] != static_cast<std::byte>(type))
    return std::nullopt;
  return FieldReader(
      datagram.subspan(kControlHeadBytes, datagram.size() - kControlHeadBytes - kTagBytes));
}

// Writes and reads a frame whose fields `fields(io, frame)` lists. Bytes after the last field are
// an error unless the frame is `open_ended`.
template <class Frame, class Fields>
void write_frame(const Frame& frame, Buffer& out, Fields fields) {
  begin_frame(out, Frame::kType, frame.destination);
  FieldWriter writer(out);
  fields(writer, frame);
}
template <class Frame, class Fields>
std::optional<Frame> read_frame(std::span<const std::byte> datagram, Fields fields,
                                bool open_ended = false) {
  auto reader = open_frame(datagram, Frame::kType);
  if (!reader) return std::nullopt;
  Frame frame;
  frame.destination = frame_destination(datagram);
  fields(*reader, frame);
  if (!reader->ok() || (!open_ended && reader->left() != 0)) return std::nullopt;
  return frame;
}

}  // namespace dlcp::wire
