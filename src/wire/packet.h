// A packet to send, and a received packet: core/ and datapath/ exchange them through the engine and
// do not depend on each other. Payload bytes are referenced, not owned.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "dlcp/traffic_class.h"
#include "util/time.h"

namespace dlcp::wire {

// The source host of a packet: its IP address, IPv4 in the first four bytes.
struct HostAddress {
  std::array<std::uint64_t, 2> words{};  // as the bytes are in memory

  // All zero: the datapath has no such address.
  bool known() const { return (words[0] | words[1]) != 0; }
  friend bool operator==(const HostAddress& a, const HostAddress& b) {  // without memcmp
    return ((a.words[0] ^ b.words[0]) | (a.words[1] ^ b.words[1])) == 0;
  }
};

// The address of a datapath, in the datapath's own encoding. The host part is common to all: first
// the family, 4 or 6 (anything else: no IP address), then the bytes of the IP address. The rest has
// meaning only for the datapath. It is part of NCCL's 128-byte handle and of HELLO frames; two
// equal blobs are the same address.
struct EndpointAddress {
  static constexpr std::size_t kMaxBytes = 60;
  std::array<std::byte, kMaxBytes> bytes{};
  std::uint8_t size = 0;  // bytes in use, 0..kMaxBytes

  // By memcmp: std::array compares std::byte one by one, which costs time for every packet.
  friend bool operator==(const EndpointAddress& a, const EndpointAddress& b) {
    return a.size == b.size && std::memcmp(a.bytes.data(), b.bytes.data(), kMaxBytes) == 0;
  }
};

inline HostAddress host_address(std::span<const std::byte> ip) {
  HostAddress host;
  std::memcpy(host.words.data(), ip.data(), std::min(ip.size(), sizeof host.words));
  return host;
}

inline HostAddress host_of(const EndpointAddress& address) {
  const std::size_t bytes = address.bytes[0] == std::byte{4}   ? 4
                            : address.bytes[0] == std::byte{6} ? 16
                                                               : 0;
  if (address.size <= bytes) return {};
  return host_address(std::span(address.bytes).subspan(1, bytes));
}

// A local entropy value: with UDP the index of the source-port socket, with RoCE of the flow label
// or queue pair. 0 .. datapath::Limits::paths - 1.
using PathIndex = std::uint8_t;

struct TxPacket {
  static constexpr std::size_t kMaxHeaderBytes = 64;

  std::array<std::byte, kMaxHeaderBytes> header;  // the first header_bytes are sent
  std::uint8_t header_bytes = 0;
  TrafficClass traffic_class = TrafficClass::kControl;
  bool unmarked = false;  // without the DSCP and ECN of its class
  PathIndex path = 0;
  // Sent after the header: part of registered memory, or of a frame that core keeps until the next
  // poll_transmit.
  std::span<const std::byte> payload;
  const EndpointAddress* destination = nullptr;  // never null when handed to a datapath
};

struct RxPacket {
  std::span<const std::byte> bytes;  // one whole datagram (GRO buffers are divided before)
  Time arrived_at;                   // when the kernel or NIC received it
  Ecn ecn = Ecn::kNotEct;
  std::uint8_t dscp = 0;
  HostAddress source;  // reported by the network

  bool unmarked() const { return dscp == 0 && ecn == Ecn::kNotEct; }
};

}  // namespace dlcp::wire
