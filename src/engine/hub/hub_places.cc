#include "engine/hub/hub_places.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/hash/siphash.h"
#include "util/text/host_port.h"

namespace dlcp::engine {

std::string to_string(const HubPlace& place) {
  const bool v6 = place.host.find(':') != std::string::npos;
  return v6 ? fmt::format("[{}]:{}", place.host, place.port)
            : fmt::format("{}:{}", place.host, place.port);
}

Result<std::vector<HubPlace>> parse_hub_places(std::string_view text) {
  std::vector<HubPlace> places;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    auto parts = split_host_port(std::string(one));
    const auto is_letter = [](char c) { return c > ' ' && c < '~'; };
    if (!parts || !std::ranges::all_of(parts->host, is_letter)) {
      return Error{ErrorCode::kInvalidUsage, fmt::format("'{}' is not a hub", one),
                   "give HOST or HOST:PORT, separated by commas"};
    }
    HubPlace place{parts->host, parts->port.value_or(kHubPort)};
    if (std::ranges::find(places, place) != places.end()) {
      return Error{ErrorCode::kInvalidUsage, fmt::format("'{}' occurs twice", one),
                   "name each hub once"};
    }
    places.push_back(std::move(place));
  }
  return places;
}

std::uint64_t hash_of(std::span<const HubPlace> places) {
  if (places.empty()) return 0;
  std::string all;
  for (const HubPlace& place : places)
    all += to_string(place) + ',';
  return std::max(siphash24({}, std::as_bytes(std::span(all))), std::uint64_t{1});
}

}  // namespace dlcp::engine
