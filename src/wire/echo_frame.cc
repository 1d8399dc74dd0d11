#include "wire/echo_frame.h"

#include <algorithm>

#include "wire/control_form.h"

namespace dlcp::wire {
namespace {

constexpr std::uint16_t kPathMax = 255;

void pad_and_seal(Buffer& out, std::size_t frame_bytes) {
  out.resize(std::max(frame_bytes, kEchoFrameBytesMin) - kTrailerBytes);
  seal_frame(out);
}

// The fields of an intact frame of `type`, or nullopt.
std::optional<Reader> open(std::span<const std::byte> datagram, FrameType type) {
  if (datagram.size() < kEchoFrameBytesMin) return std::nullopt;
  return open_frame(datagram, type);
}

}  // namespace

void encode(const EchoRequest& request, Buffer& out) {
  Writer writer = begin_frame(out, FrameType::kEchoRequest, request.session);
  writer.put(request.sequence);
  writer.put(request.frame_bytes);
  writer.put(request.reply_bytes);
  writer.put(request.sent_at_ns);
  writer.put(request.path);
  writer.put(request.tos);
  pad_and_seal(out, request.frame_bytes);
}

void encode(const EchoReply& reply, Buffer& out) {
  Writer writer = begin_frame(out, FrameType::kEchoReply, reply.session);
  writer.put(reply.sequence);
  writer.put(reply.frame_bytes);
  writer.put(reply.requests_seen);
  writer.put(reply.sent_at_ns);
  writer.put(reply.path);
  writer.put(reply.tos_sent);
  writer.put(reply.tos_seen);
  pad_and_seal(out, reply.frame_bytes);
}

std::optional<EchoRequest> decode_echo_request(std::span<const std::byte> datagram) {
  auto reader = open(datagram, FrameType::kEchoRequest);
  if (!reader) return std::nullopt;
  EchoRequest request;
  request.session = frame_destination(datagram);
  request.sequence = reader->get<std::uint32_t>();
  request.frame_bytes = reader->get<std::uint32_t>();
  request.reply_bytes = reader->get<std::uint32_t>();
  request.sent_at_ns = reader->get<std::uint64_t>();
  request.path = reader->get<std::uint16_t>();
  request.tos = reader->get<std::uint8_t>();
  const bool sound = reader->ok() && request.frame_bytes == datagram.size() &&
                     request.reply_bytes >= kEchoFrameBytesMin &&
                     request.reply_bytes <= request.frame_bytes && request.path <= kPathMax;
  return sound ? std::optional(request) : std::nullopt;
}

std::optional<EchoReply> decode_echo_reply(std::span<const std::byte> datagram) {
  auto reader = open(datagram, FrameType::kEchoReply);
  if (!reader) return std::nullopt;
  EchoReply reply;
  reply.session = frame_destination(datagram);
  reply.sequence = reader->get<std::uint32_t>();
  reply.frame_bytes = reader->get<std::uint32_t>();
  reply.requests_seen = reader->get<std::uint32_t>();
  reply.sent_at_ns = reader->get<std::uint64_t>();
  reply.path = reader->get<std::uint16_t>();
  reply.tos_sent = reader->get<std::uint8_t>();
  reply.tos_seen = reader->get<std::uint8_t>();
  const bool sound = reader->ok() && reply.frame_bytes == datagram.size() && reply.path <= kPathMax;
  return sound ? std::optional(reply) : std::nullopt;
}

}  // namespace dlcp::wire
