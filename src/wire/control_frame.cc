#include "wire/control_frame.h"

#include <cstring>

#include "wire/control_form.h"

namespace dlcp::wire {
namespace {

constexpr std::size_t kVersionTextMax = 32;
constexpr std::size_t kPathReportBytes = 14;
constexpr std::size_t kMessageReportBytes = 10;

std::optional<ChecksumMode> checksum_mode(std::uint8_t value) {
  if (value > static_cast<std::uint8_t>(ChecksumMode::kFull)) return std::nullopt;
  return static_cast<ChecksumMode>(value);
}

// PING and PONG, and the frames that consist of a head alone, differ in nothing but their type.
template <class Frame>
std::optional<Frame> decode_echo(std::span<const std::byte> datagram, FrameType type) {
  auto reader = open_frame(datagram, type);
  if (!reader) return std::nullopt;
  Frame frame;
  frame.destination = frame_destination(datagram);
  frame.echo = reader->get<std::uint32_t>();
  if (!reader->ok()) return std::nullopt;
  return frame;
}

template <class Frame>
void encode_echo(const Frame& frame, FrameType type, Buffer& out) {
  begin_frame(out, type, frame.destination).put(frame.echo);
  seal_frame(out);
}

}  // namespace

bool control_intact(std::span<const std::byte> datagram) {
  if (datagram.size() < kFrameHeadBytes + kTrailerBytes) return false;
  if (datagram[0] != std::byte{kMagic}) return false;
  const auto covered = datagram.first(datagram.size() - kTrailerBytes);
  return load_le<std::uint32_t>(datagram.data() + covered.size()) == crc32c(covered);
}

void set_path(Buffer& frame, PathIndex path) {
  frame[3] = static_cast<std::byte>(path);
  frame.resize(frame.size() - kTrailerBytes);
  seal_frame(frame);
}

std::optional<FrameHead> decode_head(std::span<const std::byte> datagram) {
  if (datagram.size() < kFrameHeadBytes || datagram[0] != std::byte{kMagic}) return std::nullopt;
  FrameHead head;
  head.version = static_cast<std::uint8_t>(datagram[1]);
  const auto type = static_cast<std::uint8_t>(datagram[2]);
  const bool known = type >= static_cast<std::uint8_t>(FrameType::kData) &&
                     type <= static_cast<std::uint8_t>(FrameType::kEchoReply);
  if (head.version == kWireVersion && !known) return std::nullopt;
  head.type = static_cast<FrameType>(type);
  head.flags = static_cast<std::uint8_t>(datagram[3]);
  head.destination = frame_destination(datagram);
  return head;
}

void encode(const Hello& frame, Buffer& out) {
  Writer writer = begin_frame(out, FrameType::kHello, frame.destination);
  out[1] = std::byte{frame.wire_version};
  writer.put(frame.sender_token);
  writer.put(frame.sender_address.size);
  writer.put_bytes(std::span(frame.sender_address.bytes).first(frame.sender_address.size));
  writer.put(frame.datagram_bytes_max);
  writer.put(frame.hello_bytes);
  writer.put(frame.paths);
  writer.put(static_cast<std::uint8_t>(frame.checksum));
  writer.put(frame.features);
  writer.put(frame.echo);
  writer.put_text(frame.plugin_version, kVersionTextMax);
  if (out.size() + kTrailerBytes < frame.hello_bytes) out.resize(frame.hello_bytes - kTrailerBytes);
  seal_frame(out);
}

std::optional<Hello> decode_hello(std::span<const std::byte> datagram) {
  auto reader = open_frame(datagram, FrameType::kHello, true);
  if (!reader) return std::nullopt;
  Hello frame;
  frame.wire_version = static_cast<std::uint8_t>(datagram[1]);
  frame.destination = frame_destination(datagram);
  frame.sender_token = reader->get<std::uint64_t>();
  frame.sender_address.size = reader->get<std::uint8_t>();
  if (frame.sender_address.size > EndpointAddress::kMaxBytes) return std::nullopt;
  const auto address = reader->get_bytes(frame.sender_address.size);
  std::copy(address.begin(), address.end(), frame.sender_address.bytes.begin());
  if (frame.wire_version != kWireVersion) {
    return reader->ok() ? std::optional(frame) : std::nullopt;
  }
  frame.datagram_bytes_max = reader->get<std::uint32_t>();
  frame.hello_bytes = reader->get<std::uint32_t>();
  frame.paths = reader->get<std::uint32_t>();
  const auto checksum = checksum_mode(reader->get<std::uint8_t>());
  frame.features = reader->get<std::uint32_t>();
  frame.echo = reader->get<std::uint32_t>();
  frame.plugin_version = reader->get_text();
  if (!reader->ok() || !checksum || frame.plugin_version.size() > kVersionTextMax) {
    return std::nullopt;
  }
  frame.checksum = *checksum;
  return frame;
}

void encode(const Welcome& frame, Buffer& out) {
  Writer writer = begin_frame(out, FrameType::kWelcome, frame.destination);
  writer.put(frame.receiver_token);
  writer.put(frame.datagram_bytes_max);
  writer.put(frame.hello_bytes);
  writer.put(static_cast<std::uint8_t>(frame.checksum));
  writer.put(frame.features);
  writer.put(frame.echo);
  writer.put_text(frame.plugin_version, kVersionTextMax);
  seal_frame(out);
}

std::optional<Welcome> decode_welcome(std::span<const std::byte> datagram) {
  auto reader = open_frame(datagram, FrameType::kWelcome);
  if (!reader) return std::nullopt;
  Welcome frame;
  frame.destination = frame_destination(datagram);
  frame.receiver_token = reader->get<std::uint64_t>();
  frame.datagram_bytes_max = reader->get<std::uint32_t>();
  frame.hello_bytes = reader->get<std::uint32_t>();
  const auto checksum = checksum_mode(reader->get<std::uint8_t>());
  frame.features = reader->get<std::uint32_t>();
  frame.echo = reader->get<std::uint32_t>();
  frame.plugin_version = reader->get_text();
  if (!reader->ok() || !checksum || frame.plugin_version.size() > kVersionTextMax) {
    return std::nullopt;
  }
  frame.checksum = *checksum;
  return frame;
}

void encode(const Refuse& frame, Buffer& out) {
  Writer writer = begin_frame(out, FrameType::kRefuse, frame.destination);
  out[1] = std::byte{frame.wire_version};
  writer.put_text(frame.reason, kReasonBytesMax);
  seal_frame(out);
}

std::optional<Refuse> decode_refuse(std::span<const std::byte> datagram) {
  auto reader = open_frame(datagram, FrameType::kRefuse, true);
  if (!reader) return std::nullopt;
  Refuse frame;
  frame.destination = frame_destination(datagram);
  frame.wire_version = static_cast<std::uint8_t>(datagram[1]);
  frame.reason = reader->get_text();
  if (!reader->ok() || frame.reason.size() > kReasonBytesMax) return std::nullopt;
  return frame;
}

void encode(const Start& frame, Buffer& out) {
  Writer writer = begin_frame(out, FrameType::kStart, frame.destination);
  writer.put(frame.payload_bytes);
  writer.put(static_cast<std::uint8_t>(frame.checksum));
  seal_frame(out);
}

std::optional<Start> decode_start(std::span<const std::byte> datagram) {
  auto reader = open_frame(datagram, FrameType::kStart);
  if (!reader) return std::nullopt;
  Start frame;
  frame.destination = frame_destination(datagram);
  frame.payload_bytes = reader->get<std::uint32_t>();
  const auto checksum = checksum_mode(reader->get<std::uint8_t>());
  if (!reader->ok() || !checksum) return std::nullopt;
  frame.checksum = *checksum;
  return frame;
}

void encode(const Started& frame, Buffer& out) {
  Writer writer = begin_frame(out, FrameType::kStarted, frame.destination);
  writer.put(frame.posted);
  writer.put(frame.window_packets);
  writer.put(frame.window_epoch);
  seal_frame(out);
}

std::optional<Started> decode_started(std::span<const std::byte> datagram) {
  auto reader = open_frame(datagram, FrameType::kStarted);
  if (!reader) return std::nullopt;
  Started frame;
  frame.destination = frame_destination(datagram);
  frame.posted = reader->get<std::uint32_t>();
  frame.window_packets = reader->get<std::uint32_t>();
  frame.window_epoch = reader->get<std::uint8_t>();
  if (!reader->ok()) return std::nullopt;
  return frame;
}

void Ack::clear() {
  answers_probe = false;
  probe_echo = 0;
  paths.clear();
  messages.clear();
  bitmap.clear();
}

std::size_t encoded_bytes(const Ack& ack) {
  return kFrameHeadBytes + 22 + 2 + ack.paths.size() * kPathReportBytes +
         ack.messages.size() * kMessageReportBytes + ack.bitmap.size() * 8 + kTrailerBytes;
}

void encode(const Ack& frame, Buffer& out) {
  Writer writer = begin_frame(out, FrameType::kAck, frame.destination);
  writer.put(frame.completed);
  writer.put(frame.posted);
  writer.put(frame.window_packets);
  writer.put(frame.window_epoch);
  writer.put(static_cast<std::uint8_t>(frame.answers_probe ? 1 : 0));
  writer.put(frame.probe_echo);
  writer.put(frame.duplicates);
  writer.put(static_cast<std::uint8_t>(frame.paths.size()));
  writer.put(static_cast<std::uint8_t>(frame.messages.size()));
  for (const PathReport& path : frame.paths) {
    writer.put(path.path);
    writer.put(path.ce_marks);
    writer.put(path.highest_sequence);
    writer.put(path.echo);
    writer.put(path.held);
  }
  for (const MessageReport& report : frame.messages) {
    writer.put(report.message);
    writer.put(report.first_missing);
    writer.put(report.bitmap_words);
  }
  for (const std::uint64_t word : frame.bitmap)
    writer.put(word);
  seal_frame(out);
}

bool decode_ack(std::span<const std::byte> datagram, Ack& out) {
  auto reader = open_frame(datagram, FrameType::kAck);
  if (!reader) return false;
  out.clear();
  out.destination = frame_destination(datagram);
  out.completed = reader->get<std::uint32_t>();
  out.posted = reader->get<std::uint32_t>();
  out.window_packets = reader->get<std::uint32_t>();
  out.window_epoch = reader->get<std::uint8_t>();
  out.answers_probe = reader->get<std::uint8_t>() != 0;
  out.probe_echo = reader->get<std::uint32_t>();
  out.duplicates = reader->get<std::uint32_t>();
  const std::size_t paths = reader->get<std::uint8_t>();
  const std::size_t messages = reader->get<std::uint8_t>();
  if (!reader->ok() || reader->left() < paths * kPathReportBytes + messages * kMessageReportBytes) {
    return false;
  }
  for (std::size_t i = 0; i < paths; ++i) {
    PathReport& path = out.paths.emplace_back();
    path.path = reader->get<std::uint8_t>();
    path.ce_marks = reader->get<std::uint8_t>();
    path.highest_sequence = reader->get<std::uint32_t>();
    path.echo = reader->get<std::uint32_t>();
    path.held = reader->get<std::uint32_t>();
  }
  std::size_t words = 0;
  for (std::size_t i = 0; i < messages; ++i) {
    MessageReport& report = out.messages.emplace_back();
    report.message = reader->get<std::uint32_t>();
    report.first_missing = reader->get<std::uint32_t>();
    report.bitmap_words = reader->get<std::uint16_t>();
    words += report.bitmap_words;
  }
  if (reader->left() != words * 8) return false;
  for (std::size_t i = 0; i < words; ++i)
    out.bitmap.push_back(reader->get<std::uint64_t>());
  return reader->ok();
}

void encode(const Probe& frame, Buffer& out) {
  Writer writer = begin_frame(out, FrameType::kProbe, frame.destination);
  writer.put(frame.echo);
  writer.put(frame.path);
  writer.put(frame.backlog);
  if (out.size() + kTrailerBytes < frame.bytes) out.resize(frame.bytes - kTrailerBytes);
  seal_frame(out);
}

std::optional<Probe> decode_probe(std::span<const std::byte> datagram) {
  auto reader = open_frame(datagram, FrameType::kProbe);
  if (!reader) return std::nullopt;
  Probe frame;
  frame.destination = frame_destination(datagram);
  frame.echo = reader->get<std::uint32_t>();
  frame.path = reader->get<std::uint8_t>();
  frame.backlog = reader->get<std::uint32_t>();
  frame.bytes = static_cast<std::uint32_t>(datagram.size());
  if (!reader->ok()) return std::nullopt;
  return frame;
}

void encode(const Ping& frame, Buffer& out) {
  encode_echo(frame, FrameType::kPing, out);
}
void encode(const Pong& frame, Buffer& out) {
  encode_echo(frame, FrameType::kPong, out);
}
std::optional<Ping> decode_ping(std::span<const std::byte> datagram) {
  return decode_echo<Ping>(datagram, FrameType::kPing);
}
std::optional<Pong> decode_pong(std::span<const std::byte> datagram) {
  return decode_echo<Pong>(datagram, FrameType::kPong);
}

void encode(const Close& frame, Buffer& out) {
  begin_frame(out, FrameType::kClose, frame.destination).put(frame.completed);
  seal_frame(out);
}

std::optional<Close> decode_close(std::span<const std::byte> datagram) {
  auto reader = open_frame(datagram, FrameType::kClose);
  if (!reader) return std::nullopt;
  Close frame;
  frame.destination = frame_destination(datagram);
  frame.completed = reader->get<std::uint32_t>();
  if (!reader->ok()) return std::nullopt;
  return frame;
}

void encode(const CloseAck& frame, Buffer& out) {
  begin_frame(out, FrameType::kCloseAck, frame.destination);
  seal_frame(out);
}

std::optional<CloseAck> decode_close_ack(std::span<const std::byte> datagram) {
  if (!open_frame(datagram, FrameType::kCloseAck)) return std::nullopt;
  return CloseAck{frame_destination(datagram)};
}

void encode(const Reset& frame, Buffer& out) {
  Writer writer = begin_frame(out, FrameType::kReset, frame.destination);
  writer.put_text(frame.reason, kReasonBytesMax);
  seal_frame(out);
}

std::optional<Reset> decode_reset(std::span<const std::byte> datagram) {
  auto reader = open_frame(datagram, FrameType::kReset);
  if (!reader) return std::nullopt;
  Reset frame;
  frame.destination = frame_destination(datagram);
  frame.reason = reader->get_text();
  if (!reader->ok() || frame.reason.size() > kReasonBytesMax) return std::nullopt;
  return frame;
}

}  // namespace dlcp::wire
