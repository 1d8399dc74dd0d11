#include "wire/loss_frame.h"

#include "wire/control_form.h"

namespace dlcp::wire {
namespace {

constexpr std::size_t kMarkBytes = 5;
constexpr std::size_t kHoleBytes = 8;
constexpr std::size_t kStopBytes = kControlHeadBytes + 4 + 4 + 2 + kTagBytes;

template <class Io>
void fields(Io& io, auto&& f) requires std::same_as<std::remove_cvref_t<decltype(f)>, SentOnce> {
  io(f.message);
  io(f.message_bytes);
  io(f.echo);
  io(f.path);
  io(f.urgent);
  io.template list<std::uint16_t>(f.marks, kMarkBytes, [&](auto&& mark) {
    io(mark.path);
    io(mark.sequence);
  });
}

template <class Io>
void fields(Io& io, auto&& f) requires std::same_as<std::remove_cvref_t<decltype(f)>, Need> {
  io(f.message);
  io(f.echo);
  io(f.path);
}

template <class Io>
void fields(Io& io, auto&& f) requires std::same_as<std::remove_cvref_t<decltype(f)>, Stop> {
  io(f.message);
  io(f.lost_bytes);
  io.template list<std::uint16_t>(f.holes, kHoleBytes, [&](auto&& hole) {
    io(hole.first);
    io(hole.count);
  });
}

template <class Frame>
void write(const Frame& frame, Buffer& out) {
  begin_frame(out, Frame::kType, frame.destination);
  FieldWriter writer(out);
  fields(writer, frame);
}

template <class Frame>
std::optional<Frame> read(std::span<const std::byte> datagram) {
  auto reader = open_frame(datagram, Frame::kType);
  if (!reader) return std::nullopt;
  Frame frame;
  frame.destination = frame_destination(datagram);
  fields(*reader, frame);
  if (!reader->ok() || reader->left() != 0) return std::nullopt;
  return frame;
}

}  // namespace

template <>
void encode(const SentOnce& frame, Buffer& out) {
  write(frame, out);
}
template <>
void encode(const Need& frame, Buffer& out) {
  write(frame, out);
}
template <>
void encode(const Stop& frame, Buffer& out) {
  write(frame, out);
}

template <>
std::optional<SentOnce> decode(std::span<const std::byte> datagram) {
  return read<SentOnce>(datagram);
}
template <>
std::optional<Need> decode(std::span<const std::byte> datagram) {
  return read<Need>(datagram);
}
template <>
std::optional<Stop> decode(std::span<const std::byte> datagram) {
  return read<Stop>(datagram);
}

std::size_t holes_max(std::size_t bytes) {
  return bytes < kStopBytes ? 0 : (bytes - kStopBytes) / kHoleBytes;
}

}  // namespace dlcp::wire
