// The content of an Introduction (datapath/placement.h): the queue pairs of one side of a link.
//
// Layout, big-endian: version (1), transport (1), MTU as in InfiniBand (1 = 256 bytes ... 5 =
// 4096), number of classes (1), receives per path (2); for each class: class (1), number of paths
// (1), which of them are connected (2, bit p for path p), then the queue pair of each path (3).
//
// RC: behind the receives per path the version (4) of the introduction, which grows; behind the
// queue pair of each path the one that it is connected to (3), or 0. A queue pair that fails is
// replaced by another, so each side must see which one of the two the other side means.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "datapath/link_sizes.h"
#include "datapath/placement.h"
#include "datapath/verbs/placement/placement_ability.h"
#include "dlcp/traffic_class.h"

namespace dlcp::datapath {

inline constexpr std::size_t kReliablePathsPerLinkMax = 16;  // RC
constexpr std::size_t paths_per_link_max(PlacementTransport transport) {
  return transport == PlacementTransport::kRc ? kReliablePathsPerLinkMax : kPathsPerLinkMax;
}

struct LinkDescription {
  struct Path {
    std::uint32_t queue_pair = 0;    // 24 bits
    bool is_connected = false;       // to the other side's queue pair of this class and path
    std::uint32_t connected_to = 0;  // RC: to this one; 0: to none
  };
  PlacementTransport transport = PlacementTransport::kUc;
  std::uint8_t mtu = 0;  // ibv_mtu
  std::uint16_t receives_per_path = 0;
  std::uint32_t version = 0;                                  // RC
  std::array<std::vector<Path>, kTrafficClassCount> classes;  // by class
};

// Requires no more paths than the limits above.
Introduction encode(const LinkDescription& link);
// Returns nullopt unless the bytes, which come from the network, are exactly a valid encoding.
std::optional<LinkDescription> decode_introduction(std::span<const std::byte> bytes);

}  // namespace dlcp::datapath
