#include "wire/loss_frame.h"

#include "wire/control_form.h"

namespace dlcp::wire {
namespace {

constexpr std::size_t kMarkBytes = 5;
constexpr std::size_t kHoleBytes = 8;
constexpr std::size_t kStopBytes = kFrameHeadBytes + 4 + 4 + 2 + kTrailerBytes;

}  // namespace

void encode(const SentOnce& frame, Buffer& out) {
  Writer writer = begin_frame(out, FrameType::kSentOnce, frame.destination);
  writer.put(frame.message);
  writer.put(frame.message_bytes);
  writer.put(frame.echo);
  writer.put(frame.path);
  writer.put(std::uint8_t{frame.urgent});
  writer.put(static_cast<std::uint16_t>(frame.marks.size()));
  for (const PathMark& mark : frame.marks) {
    writer.put(mark.path);
    writer.put(mark.sequence);
  }
  seal_frame(out);
}

std::optional<SentOnce> decode_sent_once(std::span<const std::byte> datagram) {
  auto reader = open_frame(datagram, FrameType::kSentOnce);
  if (!reader) return std::nullopt;
  SentOnce frame;
  frame.destination = frame_destination(datagram);
  frame.message = reader->get<std::uint32_t>();
  frame.message_bytes = reader->get<std::uint32_t>();
  frame.echo = reader->get<std::uint32_t>();
  frame.path = reader->get<std::uint8_t>();
  const auto urgent = reader->get<std::uint8_t>();
  frame.urgent = urgent != 0;
  const std::size_t marks = reader->get<std::uint16_t>();
  if (!reader->ok() || urgent > 1 || reader->left() != marks * kMarkBytes) return std::nullopt;
  frame.marks.resize(marks);
  for (PathMark& mark : frame.marks) {
    mark.path = reader->get<std::uint8_t>();
    mark.sequence = reader->get<std::uint32_t>();
  }
  return frame;
}

void encode(const Need& frame, Buffer& out) {
  Writer writer = begin_frame(out, FrameType::kNeed, frame.destination);
  writer.put(frame.message);
  writer.put(frame.echo);
  writer.put(frame.path);
  seal_frame(out);
}

std::optional<Need> decode_need(std::span<const std::byte> datagram) {
  auto reader = open_frame(datagram, FrameType::kNeed);
  if (!reader) return std::nullopt;
  Need frame;
  frame.destination = frame_destination(datagram);
  frame.message = reader->get<std::uint32_t>();
  frame.echo = reader->get<std::uint32_t>();
  frame.path = reader->get<std::uint8_t>();
  if (!reader->ok()) return std::nullopt;
  return frame;
}

void encode(const Stop& frame, Buffer& out) {
  Writer writer = begin_frame(out, FrameType::kStop, frame.destination);
  writer.put(frame.message);
  writer.put(frame.lost_bytes);
  writer.put(static_cast<std::uint16_t>(frame.holes.size()));
  for (const Hole& hole : frame.holes) {
    writer.put(hole.first);
    writer.put(hole.count);
  }
  seal_frame(out);
}

std::optional<Stop> decode_stop(std::span<const std::byte> datagram) {
  auto reader = open_frame(datagram, FrameType::kStop);
  if (!reader) return std::nullopt;
  Stop frame;
  frame.destination = frame_destination(datagram);
  frame.message = reader->get<std::uint32_t>();
  frame.lost_bytes = reader->get<std::uint32_t>();
  const std::size_t holes = reader->get<std::uint16_t>();
  if (!reader->ok() || reader->left() != holes * kHoleBytes) return std::nullopt;
  frame.holes.resize(holes);
  for (Hole& hole : frame.holes) {
    hole.first = reader->get<std::uint32_t>();
    hole.count = reader->get<std::uint32_t>();
  }
  return frame;
}

std::size_t holes_max(std::size_t bytes) {
  return bytes < kStopBytes ? 0 : (bytes - kStopBytes) / kHoleBytes;
}

}  // namespace dlcp::wire
