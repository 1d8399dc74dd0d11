#include "datapath/trace/note.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "wire/codec.h"
#include "wire/data/data_header.h"

namespace dlcp::datapath {
namespace {

constexpr std::array<const char*, 21> kTypeNames = {
    "?",         "DATA",  "HELLO", "WELCOME",      "REFUSE",     "START",     "STARTED",
    "ACK",       "PROBE", "PING",  "PONG",         "CLOSE",      "CLOSE_ACK", "RESET",
    "SENT_ONCE", "NEED",  "STOP",  "ECHO_REQUEST", "ECHO_REPLY", "LINK",      "PERMITS"};

std::string frame_text(const TracedPacket& packet, std::span<const std::byte> begin) {
  const auto head = wire::decode_head(begin);
  if (!head) return fmt::format("{} bytes that are not a frame of DLCP", packet.bytes);
  const char* type = kTypeNames[static_cast<std::size_t>(head->type) % kTypeNames.size()];
  const auto data = wire::decode_data(begin);
  if (!data) {
    return fmt::format("{} {:x}, {} bytes, path {}", type, head->destination, packet.bytes,
                       packet.path);
  }
  const wire::DataHeader& header = data->header;
  return fmt::format(
      "{} {:x} message {}, {}+{} of {}, path {} number {}{}{}{}", type, header.destination,
      header.message, header.offset,
      header.coding.used() ? header.coding.plain_bytes : packet.bytes - wire::kDataHeaderBytes,
      header.message_bytes, packet.path, header.path_sequence,
      header.retransmission ? ", again" : "", header.licensed ? ", licensed" : "",
      header.coding.used() ? ", compressed" : "");
}

}  // namespace

TracedPacket note(Time at, std::uint64_t token, std::string_view text) {
  TracedPacket packet{.at = at, .sent = true, .peer = {}, .head = {}};
  packet.head[0] = std::byte{wire::kMagic};
  packet.head[1] = std::byte{wire::kWireVersion};
  packet.head[2] = kNoteType;
  wire::store_le(packet.head.data() + 4, token);
  const auto fits =
      std::as_bytes(std::span(text))
          .first(std::min(text.size(), TracedPacket::kHeadBytes - wire::kFrameHeadBytes));
  std::ranges::copy(fits, packet.head.begin() + wire::kFrameHeadBytes);
  packet.kept = static_cast<std::uint16_t>(wire::kFrameHeadBytes + fits.size());
  packet.bytes = packet.kept;
  return packet;
}

std::string text_of(const TracedPacket& packet) {
  const auto begin = std::span(packet.head).first(packet.kept);
  const double ms = static_cast<double>(ns_of(packet.at)) * 1e-6;
  if (begin.size() >= wire::kFrameHeadBytes && begin[2] == kNoteType) {
    const auto words = begin.subspan(wire::kFrameHeadBytes);
    return fmt::format("{:.6f} ms - {:x} {}", ms, wire::load_le<std::uint64_t>(begin.data() + 4),
                       std::string_view(reinterpret_cast<const char*>(words.data()), words.size()));
  }
  return fmt::format("{:.6f} ms {} {}{}", ms, packet.sent ? '>' : '<', frame_text(packet, begin),
                     (packet.tos & 3) == 3 ? ", CE" : "");
}

}  // namespace dlcp::datapath
