// A datagram in the simulated network, with the IP and UDP header fields that hosts and switches
// use. It is owned by exactly one queue, link or host at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "dlcp/traffic_class.h"
#include "util/time.h"
#include "wire/packet.h"

namespace dlcp::datapath::sim {

using HostIndex = std::uint32_t;

inline constexpr std::size_t kIpUdpBytes = 28;     // IPv4 and UDP headers
inline constexpr std::size_t kEthernetBytes = 38;  // header, FCS, preamble and interframe gap

inline constexpr std::size_t kPlacedHeadBytes =
    36;  // of RoCE: base, address and key, immediate, ICRC

// The head of a packet that the receiver's card places (sim_placer). It has no header of DLCP.
struct PlacedHead {
  // Of a reliable path: data, and the answers of the receiver's card.
  enum class Kind : std::uint8_t { kUnreliable, kReliable, kAck, kGap, kRefused };

  std::uint32_t link = 0;  // the receiver's number
  std::uint32_t name = 0;  // the immediate
  std::uint64_t address = 0;
  std::uint32_t key = 0;
  TrafficClass traffic_class{};
  std::uint32_t checksum = 0;  // of the payload
  Kind kind = Kind::kUnreliable;
  std::uint32_t epoch = 0;  // of a reliable path (reliable_paths.h)
  std::uint32_t number = 0;
};

struct Frame {
  std::vector<std::byte> bytes;  // the UDP payload
  HostIndex source = 0;
  HostIndex destination = 0;
  wire::PathIndex source_path = 0;
  wire::PathIndex destination_path = 0;
  std::uint8_t dscp = 0;
  Ecn ecn = Ecn::kNotEct;
  Time arrived_at;
  std::optional<PlacedHead> placed;  // then `bytes` is only what is written

  std::size_t ip_bytes() const {
    return bytes.size() + kIpUdpBytes + (placed ? kPlacedHeadBytes : 0);
  }
  std::size_t wire_bytes() const { return ip_bytes() + kEthernetBytes; }
};

using FramePtr = std::unique_ptr<Frame>;

// Mixes `value` into `hash`. The order of calls matters.
constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  hash = (hash ^ (hash >> 32)) * 0xd6e8feb86659fd93u;
  return hash ^ (hash >> 32);
}

// The hash of a packet's addresses and ports by which a switch with this seed chooses among
// equal-cost routes.
constexpr std::uint64_t flow_hash(const Frame& frame, std::uint64_t seed) {
  return mix(mix(seed, std::uint64_t{frame.source} << 32 | frame.destination),
             std::uint64_t{frame.source_path} << 32 | frame.destination_path);
}

}  // namespace dlcp::datapath::sim
