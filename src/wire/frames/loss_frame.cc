#include "wire/frames/loss_frame.h"

#include "wire/frames/control_form.h"

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

constexpr auto kLossFields = [](auto& io, auto&& frame) { fields(io, frame); };

}  // namespace

template <>
void encode(const SentOnce& frame, Buffer& out) {
  write_frame(frame, out, kLossFields);
}
template <>
void encode(const Need& frame, Buffer& out) {
  write_frame(frame, out, kLossFields);
}
template <>
void encode(const Stop& frame, Buffer& out) {
  write_frame(frame, out, kLossFields);
}

template <>
std::optional<SentOnce> decode(std::span<const std::byte> datagram) {
  return read_frame<SentOnce>(datagram, kLossFields);
}
template <>
std::optional<Need> decode(std::span<const std::byte> datagram) {
  return read_frame<Need>(datagram, kLossFields);
}
template <>
std::optional<Stop> decode(std::span<const std::byte> datagram) {
  return read_frame<Stop>(datagram, kLossFields);
}

std::size_t holes_max(std::size_t bytes) {
  return bytes < kStopBytes ? 0 : (bytes - kStopBytes) / kHoleBytes;
}

}  // namespace dlcp::wire
