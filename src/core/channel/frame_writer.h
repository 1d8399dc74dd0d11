// Writes and seals the packets of one connection: control frames and data packets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/channel/channel.h"
#include "core/channel/frame_arena.h"
#include "wire/data/header_tags.h"
#include "wire/packet.h"

namespace dlcp::core {

class FrameWriter {
 public:
  FrameWriter(FrameArena& arena, Channel& channel) : arena_(arena), channel_(channel) {}

  template <class Frame>
  void emit(const Frame& frame, wire::PathIndex path, const wire::EndpointAddress& to,
            wire::TxPacket& out) {
    arena_.emit(frame, channel_.sealing_key(), channel_.next_sequence(), path, to, out);
  }
  // A frame for the listener, before the connection exists.
  template <class Frame>
  void emit(const Frame& frame, const wire::Key& key, wire::PathIndex path,
            const wire::EndpointAddress& to, wire::TxPacket& out) {
    arena_.emit(frame, key, channel_.next_sequence(), path, to, out);
  }
  // A data packet: its header, and a reference to its payload or to the encrypted copy. `number` is
  // the full 64-bit value of header.path_sequence.
  void emit(const wire::DataHeader& header, std::uint64_t number,
            std::span<const std::byte> payload, const wire::EndpointAddress& to,
            wire::TxPacket& out) {
    const wire::Protection protection = channel_.protection();
    wire::encode_data(header, number, payload, {channel_.sealing_key(), protection}, out.header);
    out.header_bytes = static_cast<std::uint8_t>(header.bytes());
    out.payload = payload;
    out.path = header.path;
    if (protection == wire::Protection::kEncrypted) encrypt(number, out);
    out.traffic_class = header.traffic_class;
    out.unmarked = false;
    out.destination = &to;
  }

  // Uncoded packets of one message that follow each other: the first one has `header`, and they
  // share `payload`, the last one what is left of it. seal() adds the tags.
  static void emit_run(const wire::DataHeader& header, std::span<const std::byte> payload,
                       std::size_t payload_bytes, const wire::EndpointAddress& to,
                       std::span<wire::TxPacket> out) {
    wire::encode_run(header, payload_bytes, out);
    const std::byte* at = payload.data();
    for (wire::TxPacket& packet : out) {
      packet.header_bytes = wire::kDataHeaderBytes;
      packet.payload = {at, payload_bytes};
      packet.traffic_class = header.traffic_class;
      packet.unmarked = false;
      packet.path = header.path;
      packet.destination = &to;
      at += payload_bytes;
    }
    out.back().payload = payload.subspan((out.size() - 1) * payload_bytes);
  }
  void seal(std::uint64_t number, std::span<wire::TxPacket> packets) {
    const wire::Protection protection = channel_.protection();
    if (protection == wire::Protection::kHeader)
      return wire::seal_headers(channel_.sealing_key(), number, packets);
    for (wire::TxPacket& packet : packets) {
      wire::seal_header({channel_.sealing_key(), protection}, number, packet);
      if (protection == wire::Protection::kEncrypted) encrypt(number, packet);
      ++number;
    }
  }

  // Memory for a payload that is made here; it stays valid as long as frames of emit().
  wire::Buffer& take() { return arena_.take(); }
  // If the payload of `packet` is in `frame`, copies the header in front of it, so that the packet
  // is one contiguous frame in the arena.
  static void join(wire::Buffer& frame, wire::TxPacket& packet) {
    const auto payload = std::span(frame).subspan(packet.header_bytes);
    if (packet.payload.data() != payload.data()) return;
    std::copy_n(packet.header.begin(), packet.header_bytes, frame.begin());
    packet.payload = std::span(frame).first(packet.header_bytes + packet.payload.size());
    packet.header_bytes = 0;
  }

 private:
  void encrypt(std::uint64_t number, wire::TxPacket& packet) {
    wire::Buffer& sealed = arena_.take();
    sealed.resize(packet.payload.size() + wire::kCipherTagBytes);
    channel_.seal_payload(packet.path, number, std::span(packet.header).first(packet.header_bytes),
                          packet.payload, sealed);
    packet.payload = sealed;
  }

  FrameArena& arena_;
  Channel& channel_;
};

}  // namespace dlcp::core
