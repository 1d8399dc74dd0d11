// Memory for the control frames of one poll_transmit call, reused by the next call, and a writer
// that seals the frames of one connection.
#pragma once

#include <algorithm>
#include <deque>

#include "core/channel/channel.h"
#include "wire/data/header_tags.h"
#include "wire/frames/control_frame.h"
#include "wire/frames/loss_frame.h"
#include "wire/packet.h"

namespace dlcp::core {

class FrameArena {
 public:
  void reset() { used_ = 0; }
  // Memory for one packet; it stays valid until reset().
  wire::Buffer& take() {
    if (used_ == frames_.size()) frames_.emplace_back();
    return frames_[used_++];
  }

  // Encodes and seals `frame` and describes it in `out`. References stay valid until reset().
  template <class Frame>
  void emit(const Frame& frame, const wire::Key& key, std::uint64_t sequence, wire::PathIndex path,
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

// The destination of a connection's control frames.
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
  // A frame for the listener, before the connection exists.
  template <class Frame>
  void emit(const Frame& frame, const wire::Key& key, wire::PathIndex path,
            const wire::EndpointAddress& to, wire::TxPacket& out) {
    arena_.emit(frame, key, channel_.next_sequence(), path, to, out);
  }
  // A data packet: its header, and a reference to its payload or to the encrypted copy. `number` is
  // the full 64-bit value of header.path_sequence.
  void emit(const wire::DataHeader& header, std::uint64_t number,
            std::span<const std::byte> payload, wire::Protection protection,
            const wire::EndpointAddress& to, wire::TxPacket& out) {
    wire::encode_data(header, number, payload,
                      {channel_.sealing_key(), protection, channel_.tags()}, out.header);
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

  // For runs of uncoded packets whose tag covers the header only: the packet without its tag, and
  // then the tags of all of them, which are numbered from `number`.
  static void emit_unsealed(const wire::DataHeader& header, std::span<const std::byte> payload,
                            const wire::EndpointAddress& to, wire::TxPacket& out) {
    wire::encode_unsealed(header, out.header);
    out.header_bytes = wire::kDataHeaderBytes;
    out.payload = payload;
    out.traffic_class = header.traffic_class;
    out.path = header.path;
    out.destination = &to;
  }
  void seal(std::uint64_t number, std::span<wire::TxPacket> packets) const {
    wire::seal_headers(channel_.sealing_key(), number, packets);
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
  FrameArena& arena_;
  Channel& channel_;
};

}  // namespace dlcp::core
