#include "wire/frames/echo_frame.h"

#include <algorithm>

#include "wire/frames/control_form.h"

namespace dlcp::wire {
namespace {

constexpr std::uint16_t kPathMax = 255;
constexpr Key kEverybodys{};

template <class Io>
void fields(Io& io, auto&& f) requires std::same_as<std::remove_cvref_t<decltype(f)>, EchoRequest> {
  io(f.sequence);
  io(f.frame_bytes);
  io(f.reply_bytes);
  io(f.sent_at_ns);
  io(f.path);
  io(f.tos);
  io(f.call_port);
}

template <class Io>
void fields(Io& io, auto&& f) requires std::same_as<std::remove_cvref_t<decltype(f)>, EchoReply> {
  io(f.sequence);
  io(f.frame_bytes);
  io(f.requests_seen);
  io(f.sent_at_ns);
  io(f.path);
  io(f.tos_sent);
  io(f.tos_seen);
  io(f.data_port);
}

template <class Echo>
void write(const Echo& echo, FrameType type, Buffer& out) {
  begin_frame(out, type, echo.session);
  FieldWriter writer(out);
  fields(writer, echo);
  out.resize(std::max<std::size_t>(echo.frame_bytes, kEchoFrameBytesMin) - kTagBytes);
  seal(out, kEverybodys, 0, 0);
}

template <class Echo>
std::optional<Echo> read(std::span<const std::byte> datagram, FrameType type) {
  if (datagram.size() < kEchoFrameBytesMin || !authentic(datagram, kEverybodys))
    return std::nullopt;
  auto reader = open_frame(datagram, type);
  if (!reader) return std::nullopt;
  Echo echo;
  echo.session = frame_destination(datagram);
  fields(*reader, echo);
  const bool sound = reader->ok() && echo.frame_bytes == datagram.size() && echo.path <= kPathMax;
  return sound ? std::optional(echo) : std::nullopt;
}

}  // namespace

void encode(const EchoRequest& request, Buffer& out) {
  write(request, FrameType::kEchoRequest, out);
}
void encode(const EchoReply& reply, Buffer& out) {
  write(reply, FrameType::kEchoReply, out);
}

std::optional<EchoRequest> decode_echo_request(std::span<const std::byte> datagram) {
  const auto request = read<EchoRequest>(datagram, FrameType::kEchoRequest);
  if (!request) return std::nullopt;
  const std::uint64_t answers = request->call_port != 0 ? 2 : 1;
  const bool sound = request->reply_bytes >= kEchoFrameBytesMin &&
                     answers * request->reply_bytes <= request->frame_bytes &&
                     (request->call_port == 0 || request->call_port >= kEchoPortMin);
  return sound ? request : std::nullopt;
}

std::optional<EchoReply> decode_echo_reply(std::span<const std::byte> datagram) {
  return read<EchoReply>(datagram, FrameType::kEchoReply);
}

}  // namespace dlcp::wire
