// The first bytes of the last packets of a datapath. User payload is never stored.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "util/time.h"
#include "wire/packet.h"

namespace dlcp::datapath {

struct TracedPacket {
  static constexpr std::size_t kHeadBytes = 96;

  Time at;
  bool sent = false;
  wire::PathIndex path = 0;  // that the sender chose
  std::uint8_t tos = 0;      // DSCP and ECN, as sent or received
  std::uint16_t kept = 0;    // bytes in `head`
  std::uint32_t bytes = 0;   // size of the datagram
  wire::HostAddress peer;
  std::array<std::byte, kHeadBytes> head;
};

// Written by the thread that drives the datapath, read by a thread that has detected a failure.
class PacketRing {
 public:
  explicit PacketRing(std::size_t packets) : places_(std::max<std::size_t>(packets, 1)) {}

  void add(std::span<const TracedPacket> packets) {
    const std::lock_guard lock(mutex_);
    for (const TracedPacket& packet : packets)
      places_[added_++ % places_.size()] = packet;
  }
  // Oldest first.
  std::vector<TracedPacket> packets() const {
    const std::lock_guard lock(mutex_);
    std::vector<TracedPacket> kept;
    for (std::size_t i = added_ - std::min(added_, places_.size()); i < added_; ++i)
      kept.push_back(places_[i % places_.size()]);
    return kept;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<TracedPacket> places_;
  std::size_t added_ = 0;
};

}  // namespace dlcp::datapath
