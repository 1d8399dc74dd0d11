// Hosts to which packets go without DSCP and ECN, because the network drops packets that have these
// marks. Also the hosts that data with marks has reached: there, later silence has other reasons.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_set>

#include "wire/packet.h"

namespace dlcp::core {

class UnmarkedPeers {
 public:
  // False if the peer's host is already one of them.
  bool add(const wire::EndpointAddress& peer) { return hosts_.insert(wire::host_of(peer)).second; }
  bool contains(const wire::EndpointAddress& peer) const {
    return hosts_.contains(wire::host_of(peer));
  }
  void note_arrival(const wire::EndpointAddress& peer) {
    if (!contains(peer)) reached_.insert(wire::host_of(peer));
  }
  bool reached(const wire::EndpointAddress& peer) const {
    return reached_.contains(wire::host_of(peer));
  }
  // Removes the marks of packets to these hosts. Packets to one peer mostly follow each other.
  void apply(std::span<wire::TxPacket> packets) const {
    if (hosts_.empty()) return;
    const wire::EndpointAddress* last = nullptr;
    bool is_unmarked = false;
    for (wire::TxPacket& packet : packets) {
      if (packet.destination != last) is_unmarked = contains(*packet.destination);
      last = packet.destination;
      packet.unmarked = packet.unmarked || is_unmarked;
    }
  }

 private:
  struct Hash {
    std::size_t operator()(const wire::HostAddress& host) const {
      return host.words[0] ^ host.words[1] * 0x9e3779b97f4a7c15u;
    }
  };
  std::unordered_set<wire::HostAddress, Hash> hosts_;
  std::unordered_set<wire::HostAddress, Hash> reached_;
};

}  // namespace dlcp::core
