// Memory of the control frames that one poll_transmit hands out, reused by the next; and the pen of
// one connection, which seals what it writes there.
#pragma once

#include <algorithm>
#include <deque>

#include "core/channel/channel.h"
#include "wire/control_frame.h"
#include "wire/loss_frame.h"
#include "wire/packet.h"

namespace dlcp::core {

class FrameArena {
 public:
  void reset() { used_ = 0; }
  // Memory for one packet, which stays valid until reset().
  wire::Buffer& take() {
    if (used_ == frames_.size()) frames_.emplace_back();
    return frames_[used_++];
  }

  // Encodes and seals `frame`, and makes `out` a packet of it. References stay valid until reset().
  template <class Frame>
  void emit(const Frame& frame, const wire::Key& key, std::uint32_t sequence, wire::PathIndex path,
            const wire::EndpointAddress& to, wire::TxPacket& out) {
    wire::Buffer& buffer = take();
    wire::encode(frame, buffer);
    wire::seal(buffer, key, sequence, path);
    out.header_bytes = 0;
    out.payload = buffer;
    out.traffic_class = TrafficClass::kControl;
    out.path = path;
    out.destination = &to;
  }

 private:
  std::deque<wire::Buffer> frames_;
  std::size_t used_ = 0;
};

// Whom a connection's control frames are for.
struct Recipient {
  std::uint64_t token = 0;  // of the peer's end
  const wire::EndpointAddress* address = nullptr;
};

class FrameWriter {
 public:
  FrameWriter(FrameArena& arena, Channel& channel) : arena_(arena), channel_(channel) {}

  template <class Frame>
  void emit(const Frame& frame, wire::PathIndex path, const wire::EndpointAddress& to,
            wire::TxPacket& out) {
    arena_.emit(frame, channel_.sealing_key(), channel_.next_sequence(), path, to, out);
  }
  // One that is not for the connection, but for the listener before it.
  template <class Frame>
  void emit(const Frame& frame, const wire::Key& key, wire::PathIndex path,
            const wire::EndpointAddress& to, wire::TxPacket& out) {
    arena_.emit(frame, key, channel_.next_sequence(), path, to, out);
  }
  // A data packet: its header, and a reference to its payload or to that sealed. `number`: all 64
  // bits of header.path_sequence.
  void emit(const wire::DataHeader& header, std::uint64_t number,
            std::span<const std::byte> payload, wire::Protection protection,
            const wire::EndpointAddress& to, wire::TxPacket& out) {
    wire::encode_data(header, payload, {channel_.sealing_key(), protection, channel_.tags()},
                      out.header);
    out.header_bytes = static_cast<std::uint8_t>(header.bytes());
    out.payload = payload;
    if (protection == wire::Protection::kEncrypted) {
      wire::Buffer& sealed = arena_.take();
      sealed.resize(payload.size() + wire::kCipherTagBytes);
      channel_.seal_payload(header, number, std::span(out.header).first(header.bytes()), payload,
                            sealed);
      out.payload = sealed;
    }
    out.traffic_class = header.traffic_class;
    out.path = header.path;
    out.destination = &to;
  }

  // Memory for a packet whose payload is made here; it stays as long as what emit() writes.
  wire::Buffer& take() { return arena_.take(); }
  // Where the payload of the packet lies in `frame`, its header joins it there: the packet is a
  // frame of ours then, which no datapath reads later.
  static void join(wire::Buffer& frame, wire::TxPacket& packet) {
    const auto payload = std::span(frame).subspan(packet.header_bytes);
    if (packet.payload.data() != payload.data()) return;
    std::copy_n(packet.header.begin(), packet.header_bytes, frame.begin());
    packet.payload = std::span(frame).first(packet.header_bytes + packet.payload.size());
    packet.header_bytes = 0;
  }

 private:
  FrameArena& arena_;
  Channel& channel_;
};

}  // namespace dlcp::core
