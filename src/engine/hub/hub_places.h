// Parses the hosts in DLCP_COLLNET_HUBS.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "util/result.h"

namespace dlcp::engine {

// Address of a hub: "HOST:PORT" or "[IPV6]:PORT"; the default port is kHubPort.
inline constexpr std::uint16_t kHubPort = 48890;
struct HubPlace {
  std::string host;
  std::uint16_t port = kHubPort;
  friend bool operator==(const HubPlace&, const HubPlace&) = default;
};
std::string to_string(const HubPlace& place);
// Parses a comma-separated list without duplicates.
Result<std::vector<HubPlace>> parse_hub_places(std::string_view text);
// The hash that ranks compare; 0 for an empty list.
std::uint64_t hash_of(std::span<const HubPlace> places);

}  // namespace dlcp::engine
