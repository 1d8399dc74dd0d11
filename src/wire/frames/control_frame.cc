#include "wire/frames/control_frame.h"

#include <algorithm>

#include "wire/frames/control_form.h"
#include "wire/serial.h"

namespace dlcp::wire {
namespace {

constexpr std::size_t kSequenceOffset = kFrameHeadBytes;
// Bytes of a HELLO that the tag covers, with all fields and the length. The padding is not hashed.
constexpr std::size_t kHelloCoveredBytes = 256;
constexpr std::size_t kPathReportBytes = 14;
constexpr std::size_t kPlacedReportBytes = 9;
constexpr std::uint16_t kClosing = 0x8000;  // in front of the number of bitmap words

// An optional list of addresses at the end of a frame. Other bytes there are an extension of later
// plugins and are skipped.
void last_list(FieldWriter& io, const std::vector<EndpointAddress>& list) {
  if (list.empty()) return;
  io.list<std::uint8_t>(list, 1, [&](const EndpointAddress& address) { io(address); });
}
void last_list(FieldReader& io, std::vector<EndpointAddress>& list) {
  const FieldReader before = io;
  if (io.left() > 0) io.list<std::uint8_t>(list, 1, [&](EndpointAddress& address) { io(address); });
  if (io.ok()) return;
  list.clear();
  io = before;
}

// ---- the fields of each frame, in their order on the wire

template <class Io>
void fields(Io& io, auto&& f) requires std::same_as<std::remove_cvref_t<decltype(f)>, Hello> {
  io(f.listener_number);
  io(f.sender_token);
  io(f.sender_address);
  io(f.hello_bytes);
  io(f.echo);
  io(f.protection, Protection::kHeader, Protection::kEncrypted);
  if (io.goes_on(true)) {
    io(f.membership.bundle);
    io(f.membership.member);
    io(f.membership.lanes);
    io(f.association);
    io(f.receiver_association);
    io(f.stream);
  }
}

template <class Io>
void fields(Io& io, auto&& f) requires std::same_as<std::remove_cvref_t<decltype(f)>, Welcome> {
  io(f.receiver_token);
  io(f.datagram_bytes_max);
  io(f.hello_bytes);
  io(f.echo);
  io(f.protection, Protection::kHeader, Protection::kEncrypted);
  io(f.association);
  io(f.key_stream);
  io(f.payload_bytes);
  io(f.posted);
  io(f.window_packets);
  last_list(io, f.lanes);
}

template <class Io>
void fields(Io& io, auto&& f) requires std::same_as<std::remove_cvref_t<decltype(f)>, Refuse> {
  io(f.cause, Refuse::Cause::kSettings, Refuse::Cause::kClosed);
  io(f.reason, kReasonBytesMax);
}

template <class Io>
void fields(Io& io, auto&& f) requires std::same_as<std::remove_cvref_t<decltype(f)>, Start> {
  io(f.payload_bytes);
  io(f.protection, Protection::kHeader, Protection::kEncrypted);
  io(f.unmarked);
}

template <class Io>
void fields(Io& io, auto&& f) requires std::same_as<std::remove_cvref_t<decltype(f)>, Started> {
  io(f.posted);
  io(f.window_packets);
  io(f.window_epoch);
}

template <class Io>
void fields(Io& io, auto&& f) requires std::same_as<std::remove_cvref_t<decltype(f)>, Ack> {
  io(f.window_packets);
  io(f.window_epoch);
  io(f.answers_probe);
  io(f.probe_echo);
  io(f.duplicates);
  io(f.sent);
  io.template list<std::uint8_t>(f.paths, kPathReportBytes, [&](auto&& report) {
    io(report.path);
    io(report.ce_marks);
    io(report.highest_sequence);
    io(report.echo);
    io(report.held);
  });
}

template <class Io>
void fields(Io& io,
            auto&& f) requires std::same_as<std::remove_cvref_t<decltype(f)>, StreamReport> {
  io(f.stream);
  io(f.completed);
  io(f.posted);
  io.template list<std::uint8_t>(f.messages, kMessageReportBytes, [&](auto&& report) {
    io(report.message);
    io(report.first_missing);
    auto words = static_cast<std::uint16_t>(report.bitmap_words | (report.closing ? kClosing : 0));
    io(words);
    if constexpr (!std::is_const_v<std::remove_reference_t<decltype(report)>>) {
      report.closing = (words & kClosing) != 0;
      report.bitmap_words = static_cast<std::uint16_t>(words & ~kClosing);
    }
  });
}

// The last part of an ACK, which only some have.
template <class Io>
void placed_fields(Io& io, auto&& ack) {
  if (!io.goes_on(!ack.placed.empty())) return;
  io.template list<std::uint8_t>(ack.placed, kPlacedReportBytes, [&](auto&& report) {
    io(report.path);
    io(report.name);
    io(report.held);
  });
}

template <class Io>
void fields(Io& io, auto&& f) requires std::same_as<std::remove_cvref_t<decltype(f)>, Probe> {
  io(f.echo);
}

template <class Io>
void fields(Io& io, auto&& f) requires std::same_as<std::remove_cvref_t<decltype(f)>, Pong> {
  io(f.echo);
  io.template list<std::uint8_t>(f.unknown, sizeof(std::uint32_t),
                                 [&](auto&& stream) { io(stream); });
}

template <class Io>
void fields(Io& io, auto&& f) requires std::same_as<std::remove_cvref_t<decltype(f)>, Close> {
  io(f.completed);
}

template <class Io>
void fields(Io& io, auto&& f) requires std::same_as<std::remove_cvref_t<decltype(f)>, Reset> {
  io(f.reason, kReasonBytesMax);
}

template <class Io>
void fields(Io&, auto&& f) requires std::same_as<std::remove_cvref_t<decltype(f)>, CloseAck> {}

constexpr auto kControlFields = [](auto& io, auto&& frame) { fields(io, frame); };

// ---- the tag

std::uint64_t tag_of(std::span<const std::byte> untagged, const Key& key, std::uint64_t number) {
  if (untagged[2] == static_cast<std::byte>(FrameType::kHello))
    untagged = untagged.first(std::min(untagged.size(), kHelloCoveredBytes));
  SipHash<1, 3> hash(key);
  hash.add_last(untagged);
  const std::uint64_t unsent = number & kUnsentBits;
  if (unsent != 0) hash.add(unsent);
  return hash.finish();
}

}  // namespace

void seal(Buffer& frame, const Key& key, std::uint64_t number, PathIndex path) {
  frame[3] = static_cast<std::byte>(path);
  store_le(frame.data() + kSequenceOffset, static_cast<std::uint32_t>(number));
  const std::uint64_t tag = tag_of(frame, key, number);
  Writer(frame).put(tag);
}

bool authentic(std::span<const std::byte> datagram, const Key& key, std::uint64_t number) {
  if (datagram.size() < kControlHeadBytes + kTagBytes) return false;
  const auto untagged = datagram.first(datagram.size() - kTagBytes);
  return load_le<std::uint64_t>(datagram.data() + untagged.size()) == tag_of(untagged, key, number);
}

std::uint32_t control_sequence(std::span<const std::byte> datagram) {
  return load_le<std::uint32_t>(datagram.data() + kSequenceOffset);
}

std::optional<FrameHead> decode_head(std::span<const std::byte> datagram) {
  if (datagram.size() < kFrameHeadBytes || datagram[0] != std::byte{kMagic}) return std::nullopt;
  FrameHead head;
  head.version = static_cast<std::uint8_t>(datagram[1]);
  const auto type = static_cast<std::uint8_t>(datagram[2]);
  const bool known = type >= static_cast<std::uint8_t>(FrameType::kData) &&
                     type <= static_cast<std::uint8_t>(FrameType::kPermits);
  if (head.version == kWireVersion && !known) return std::nullopt;
  head.type = static_cast<FrameType>(type);
  head.flags = static_cast<std::uint8_t>(datagram[3]);
  head.destination = frame_destination(datagram);
  return head;
}

template <class Frame>
void encode(const Frame& frame, Buffer& out) {
  write_frame(frame, out, kControlFields);
  std::size_t bytes = 0;
  if constexpr (std::same_as<Frame, Hello>) bytes = frame.hello_bytes;
  if constexpr (std::same_as<Frame, Probe>) bytes = frame.bytes;
  if (out.size() + kTagBytes < bytes) out.resize(bytes - kTagBytes);
}

template <class Frame>
std::optional<Frame> decode(std::span<const std::byte> datagram) {
  constexpr bool kOpenEnded =
      std::same_as<Frame, Hello> || std::same_as<Frame, Welcome> || std::same_as<Frame, Probe>;
  auto frame = read_frame<Frame>(datagram, kControlFields, kOpenEnded);
  if constexpr (std::same_as<Frame, Probe>) {
    if (frame) frame->bytes = static_cast<std::uint32_t>(datagram.size());
  }
  return frame;
}

template void encode(const Hello&, Buffer&);
template void encode(const Welcome&, Buffer&);
template void encode(const Refuse&, Buffer&);
template void encode(const Start&, Buffer&);
template void encode(const Started&, Buffer&);
template void encode(const Probe&, Buffer&);
template void encode(const Pong&, Buffer&);
template void encode(const Close&, Buffer&);
template void encode(const CloseAck&, Buffer&);
template void encode(const Reset&, Buffer&);

template std::optional<Hello> decode(std::span<const std::byte>);
template std::optional<Welcome> decode(std::span<const std::byte>);
template std::optional<Refuse> decode(std::span<const std::byte>);
template std::optional<Start> decode(std::span<const std::byte>);
template std::optional<Started> decode(std::span<const std::byte>);
template std::optional<Probe> decode(std::span<const std::byte>);
template std::optional<Pong> decode(std::span<const std::byte>);
template std::optional<Close> decode(std::span<const std::byte>);
template std::optional<CloseAck> decode(std::span<const std::byte>);
template std::optional<Reset> decode(std::span<const std::byte>);

// ---- ACK: the bitmaps follow the fields, and its memory is reused

void StreamReport::clear() {
  messages.clear();
  bitmap.clear();
}

StreamReport& Ack::add_stream() {
  if (used_ == reports_.size()) reports_.emplace_back();
  reports_[used_].clear();
  return reports_[used_++];
}

void Ack::clear() {
  asks_pong = answers_probe = false;
  probe_echo = 0;
  paths.clear();
  placed.clear();
  used_ = 0;
}

std::size_t encoded_bytes(const Ack& ack) {
  std::size_t bytes = kControlHeadBytes + 19 + 2 + ack.paths.size() * kPathReportBytes + kTagBytes;
  for (const StreamReport& stream : ack.streams())
    bytes += kStreamReportBytes + stream.messages.size() * kMessageReportBytes +
             stream.bitmap.size() * 8;
  if (!ack.placed.empty()) bytes += 1 + ack.placed.size() * kPlacedReportBytes;
  return bytes;
}

template <>
void encode(const Ack& frame, Buffer& out) {
  begin_frame(out, frame.asks_pong ? FrameType::kPing : FrameType::kAck, frame.destination);
  FieldWriter writer(out);
  fields(writer, frame);
  writer(static_cast<std::uint8_t>(frame.streams().size()));
  for (const StreamReport& stream : frame.streams())
    fields(writer, stream);
  for (const StreamReport& stream : frame.streams())
    for (const std::uint64_t word : stream.bitmap)
      writer(word);
  placed_fields(writer, frame);
}

bool decode_ack(std::span<const std::byte> datagram, Ack& out) {
  auto reader = open_frame(datagram, FrameType::kAck);
  const bool asks_pong = !reader;
  if (asks_pong) reader = open_frame(datagram, FrameType::kPing);
  if (!reader) return false;
  out.clear();
  out.asks_pong = asks_pong;
  out.destination = frame_destination(datagram);
  fields(*reader, out);
  std::uint8_t streams = 0;
  (*reader)(streams);
  if (!reader->ok() || streams * kStreamReportBytes > reader->left()) return false;
  std::size_t words = 0;
  for (std::size_t i = 0; i < streams && reader->ok(); ++i) {
    StreamReport& stream = out.add_stream();
    fields(*reader, stream);
    std::size_t own = 0;
    for (const MessageReport& report : stream.messages)
      own += report.bitmap_words;
    words += own;
    if (words * 8 > reader->left()) return false;
    stream.bitmap.resize(own);
  }
  if (!reader->ok() || reader->left() < words * 8) return false;
  for (std::size_t i = 0; i < streams; ++i)
    for (std::uint64_t& word : out.bitmap_of(i))
      (*reader)(word);
  placed_fields(*reader, out);
  return reader->ok() && reader->left() == 0;
}

}  // namespace dlcp::wire
