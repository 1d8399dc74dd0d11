// Packets that the core has produced and the datapath may not accept at once. The core is asked for
// more only after the held packets are gone, because that would invalidate their references. If
// their memory is released, the packets are dropped, and the core treats them as lost.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "wire/packet.h"

namespace dlcp::engine {

class Outbox {
 public:
  static constexpr std::size_t kPackets = 135;  // whole bursts at MTU 1500 (45) and 4200 (15)

  bool empty() const { return first_ == end_; }

  // Space to fill when empty(); filled() reports the number of packets. It shrinks after the
  // datapath did not accept all packets, because packets that wait here delay responses that become
  // due later.
  std::span<wire::TxPacket> room() { return std::span(packets_).first(room_); }
  void filled(std::size_t count);

  std::span<const wire::TxPacket> waiting() const;
  // The datapath accepted `count` packets of waiting(). The addresses of the remaining ones are
  // copied, so that they no longer refer to the core's memory.
  void took(std::size_t count);

  // Drops packets whose payload is in `memory`.
  void drop_within(std::span<const std::byte> memory);

 private:
  static constexpr std::size_t kRoomLeast = 16;
  static constexpr std::size_t kRoomGrowth = 4;  // after each time that all packets were accepted

  std::size_t room_ = kPackets;
  std::array<wire::TxPacket, kPackets> packets_;
  std::array<wire::EndpointAddress, kPackets> destinations_;
  std::size_t first_ = 0;
  std::size_t end_ = 0;
};

}  // namespace dlcp::engine
