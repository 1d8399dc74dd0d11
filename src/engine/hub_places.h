// The hosts that DLCP_COLLNET_HUBS names.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "util/result.h"

namespace dlcp::engine {

// Where a hub is: "HOST:PORT", "[IPV6]:PORT"; kHubPort where none is said.
inline constexpr std::uint16_t kHubPort = 48890;
struct HubPlace {
  std::string host;
  std::uint16_t port = kHubPort;
  friend bool operator==(const HubPlace&, const HubPlace&) = default;
};
std::string to_string(const HubPlace& place);
// Of a list with commas, none of them twice.
Result<std::vector<HubPlace>> parse_hub_places(std::string_view text);
// What ranks compare; 0 for none.
std::uint64_t hash_of(std::span<const HubPlace> places);

}  // namespace dlcp::engine
