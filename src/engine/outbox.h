// Packets between the core, which makes them, and the datapath, which may not take all of them now.
// The core is not asked for more until the held ones are gone, since that would invalidate what
// they reference; memory that is given back meanwhile takes its packets with it (the core treats
// them as lost, which is what they are).
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "wire/packet.h"

namespace dlcp::engine {

class Outbox {
 public:
  static constexpr std::size_t kPackets = 135;  // whole units at MTU 1500 (45) and 4200 (15)

  bool empty() const { return first_ == end_; }

  // Room to fill when empty; tell with filled() how much was. There is little of it after the
  // datapath did not take all: what waits here waits before the answers that come meanwhile.
  std::span<wire::TxPacket> room() { return std::span(packets_).first(room_); }
  void filled(std::size_t count);

  std::span<const wire::TxPacket> waiting() const;
  // The datapath took `count` of waiting(); what is left is kept without leaning on the core for
  // the addresses.
  void took(std::size_t count);

  // Forgets packets whose payload lies in `memory`.
  void drop_within(std::span<const std::byte> memory);

 private:
  static constexpr std::size_t kRoomLeast = 16;
  static constexpr std::size_t kRoomGrowth = 4;  // each time that all is taken

  std::size_t room_ = kPackets;
  std::array<wire::TxPacket, kPackets> packets_;
  std::array<wire::EndpointAddress, kPackets> destinations_;
  std::size_t first_ = 0;
  std::size_t end_ = 0;
};

}  // namespace dlcp::engine
